import Accounts
import Basics
import Database
import ObjectStore
import Webhooks

/// The position of a sweep in the list of ended sessions.
struct SweepPosition: Sendable, Hashable {
    let endedAt: UnixTime
    let uploadID: String

    static let start = SweepPosition(endedAt: UnixTime(microseconds: .min), uploadID: "")
}

/// Removes the data of uploads whose session has ended. Their rows stay, and their clients are told to restart.
struct UploadSweep: Sendable {
    let database: Database
    let store: ObjectStore
    let configuration: UploadsConfiguration
    var outbox = Outbox.closed
    /// The number of uploads in one transaction, during which other writes wait.
    var batch = 8

    /// - Returns: the number of swept uploads.
    func run(_ permit: DeletionPermit) async throws -> Int {
        var swept = 0
        var position = SweepPosition.start
        while !Task.isCancelled {
            let ended = try await database.read { [position] connection in
                try UploadRecords(connection).ended(by: permit.steadyNow(), after: position, limit: batch)
            }
            guard let last = ended.last else { break }
            position = last
            swept += try await database.write(mayUseReserve: true) { connection in
                try ended.count { try sweep($0.uploadID, permit, in: connection) }
            }
        }
        try await forgetIdempotencyKeys(permit)
        return swept
    }

    private func forgetIdempotencyKeys(_ permit: DeletionPermit) async throws {
        let limit = 1000
        var forgotten = limit
        while forgotten == limit, !Task.isCancelled {
            forgotten = try await database.write(mayUseReserve: true) { connection in
                try UploadRecords(connection).forgetUses(permit, limit: limit)
            }
        }
    }

    /// - Returns: `false` if the upload has to stay, according to the state in this transaction.
    private func sweep(_ uploadID: String, _ permit: DeletionPermit, in connection: Connection) throws -> Bool {
        let now = try permit.steadyNow()
        let records = UploadRecords(connection)
        guard var upload = try records.upload(uploadID), upload.state == .current, !upload.isSwept,
            upload.sessionEndsAt <= now
        else { return false }
        let object = try store.object(uploadID: upload.id, in: connection)
        if object?.isMultipart == true, now < upload.sessionEndsAt.adding(configuration.wholeObjectGrace) {
            return false
        }
        upload.isSwept = true
        try records.update(upload)
        let entry = AuditEntry.byGateway("SweepUpload", on: upload.auditName)
        try records.insertFailure(
            of: upload,
            UploadEnd(cause: .expired, actor: entry.actor, reason: UploadFailure.expiry, time: permit.now()))
        try Audit.record(entry, at: permit.now(), in: connection)
        try outbox.record(
            .uploadFailed(upload, .expired, traceparent: nil), at: permit.now(), in: connection)
        try store.discard(uploadID: upload.id, in: connection)
        return true
    }
}
