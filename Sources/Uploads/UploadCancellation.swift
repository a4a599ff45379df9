import Accounts
import Basics
import Database
import ObjectStore
import RPC
import Webhooks

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
            guard var upload = found,
                caller.user.objectScope == nil || caller.user.objectScope == upload.owner.organizationID
            else { throw RPCError(.uploadNotFound, "the upload does not exist") }
            switch upload.state {
            case .current: break
            case .completed:
                throw RPCError(.failedPrecondition, "the upload is complete: delete its object instead")
            case .aborted, .superseded: return upload
            }
            upload.state = .aborted
            upload.abortReason = AbortReason.clipped(reason.isEmpty ? "canceled by \(caller.user.name)" : reason)
            try records.update(upload)
            try Audit.record(caller.did(to: upload.auditName), at: now, in: connection)
            try outbox.record(.uploadAborted(upload, traceparent: caller.traceparent), at: now, in: connection)
            try store.discard(uploadID: upload.id, in: connection)
            return upload
        }
    }
}
