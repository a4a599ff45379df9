package import Accounts
package import Basics
import Catalog
package import Database
import GatewayFormats
package import ObjectStore
import RPC
package import Webhooks

/// The rules of CancelUpload.
struct UploadCancellation: Sendable {
    let database: Database
    let store: ObjectStore
    let clock: any WallClock
    var outbox = Outbox.closed

    /// Aborts the upload and removes its data.
    ///
    /// - Parameter id: a logical upload, or its current attempt.
    /// - Returns: the current attempt.
    /// - Throws: UPLOAD_NOT_FOUND for an upload that the user does not see, FAILED_PRECONDITION for a completed one.
    func cancel(_ id: String, reason: String, by caller: Caller) async throws -> UploadRecord {
        let now = clock.now()
        return try await database.write(mayUseReserve: true) { connection in
            let records = UploadRecords(connection)
            let attempt = try records.upload(id)
            let found = try records.inForce(logicalID: attempt?.logicalID ?? id)
            guard let upload = found,
                caller.user.objectScope == nil || caller.user.objectScope == upload.owner.organizationID
            else { throw RPCError(.uploadNotFound, "the upload does not exist") }
            switch upload.state {
            case .current: break
            case .completed:
                throw RPCError(.failedPrecondition, "the upload is complete: delete its object instead")
            case .aborted, .superseded: return upload
            }
            let entry = caller.did(to: upload.auditName)
            try Audit.record(entry, at: now, in: connection)
            return try ending.abort(
                upload,
                UploadEnd(
                    cause: .canceled, actor: entry.actor,
                    reason: reason.isEmpty ? "canceled by \(caller.user.name)" : reason, time: now),
                traceparent: caller.traceparent, in: connection)
        }
    }

    private var ending: UploadEnding { UploadEnding(store: store, outbox: outbox) }
}

/// The end of uploads that somebody else than their owner aborts.
package struct UploadEnding: DeviceUploads {
    let store: ObjectStore
    let outbox: Outbox

    package init(store: ObjectStore, outbox: Outbox) {
        self.store = store
        self.outbox = outbox
    }

    /// Aborts a current attempt, and removes its data.
    func abort(
        _ upload: UploadRecord, _ end: UploadEnd, traceparent: String?, in connection: Connection
    ) throws -> UploadRecord {
        var upload = upload
        let reason = AbortReason.clipped(end.reason)
        upload.state = .aborted
        upload.abortReason = reason
        let records = UploadRecords(connection)
        try records.update(upload)
        try records.insertFailure(
            of: upload, UploadEnd(cause: end.cause, actor: end.actor, reason: reason, time: end.time))
        try outbox.record(.uploadAborted(upload, traceparent: traceparent), at: end.time, in: connection)
        try store.discard(uploadID: upload.id, in: connection)
        return upload
    }

    package func activity(ofDevice id: String, in connection: ReadConnection) throws -> DeviceUploadActivity {
        try UploadRecords(connection).activity(ofDevice: id)
    }

    package var latestUpload: String {
        "(SELECT o.verified_at FROM objects o WHERE o.device_id = d.id ORDER BY o.position DESC LIMIT 1)"
    }

    package func abort(
        ofDevice id: String, reason: String, by actor: String, at now: UnixTime, in connection: Connection
    ) throws {
        let records = UploadRecords(connection)
        let end = UploadEnd(cause: .deviceRetired, actor: actor, reason: reason, time: now)
        for uploadID in try records.underWay(ofDevice: id) {
            guard let upload = try records.attempt(uploadID), upload.state == .current else { continue }
            _ = try abort(upload, end, traceparent: nil, in: connection)
        }
    }
}

/// The client's reason for aborting an upload.
enum AbortReason {
    /// The limit in Unicode scalars.
    private static let longest = 512

    /// Returns the part of the reason that is stored. An invalid reason is shortened instead of refused, because a refused abort
    /// would leave the client stuck.
    static func clipped(_ reason: String) -> String {
        let scalars = reason.unicodeScalars.lazy.filter { $0.properties.generalCategory != .control }.prefix(longest)
        let text = String(String.UnicodeScalarView(scalars))
        return text.isEmpty ? "aborted by the client" : text
    }
}
