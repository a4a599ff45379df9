import Accounts
import Basics
import Database
import ObjectStore
import RPC

/// How objects end: by an administrator's word, or by age.
///
/// The row goes first, and the file when that has committed. A download that is under way has the file open and comes to
/// its end; after a crash in between, the store's own sweep removes the file.
struct ObjectRemoval: Sendable {
    let database: Database
    let store: ObjectStore
    let clock: any WallClock
    /// Objects in one transaction of the sweep. Each may be of ten thousand parts, and other writes wait meanwhile.
    var batch = 16
    /// Records of deleted objects in one transaction.
    static let recordBatch = 500

    /// Repeated, e.g. for an answer that was lost, it is the same success.
    func delete(_ fileID: String, reason: String, by caller: Caller) async throws {
        let now = clock.now()
        let organizationID = caller.organization.id
        try await database.write(mayUseReserve: true) { connection in
            let records = ObjectRecords(connection)
            guard let object = try records.anyObject(id: fileID, scope: organizationID) else {
                if try records.wasDeleted(id: fileID, organizationID: organizationID) { return }
                throw RPCError.notFound("organization \(caller.organization.name) has no file \(fileID)")
            }
            let entry = caller.did(to: "objects/\(object.fileID)")
            try Audit.record(entry, at: now, in: connection)
            try remove(object, by: entry.actor, reason: reason, at: now, in: connection)
        }
    }

    func retentionDays(for caller: Caller) async throws -> Int32 {
        try await database.read { try ObjectRecords($0).retentionDays(organizationID: caller.organization.id) }
    }

    /// - Returns: what is older than that now. The next sweep deletes it, unless this was a dry run.
    func setRetention(
        days: Int32, isDryRun: Bool, by caller: Caller
    ) async throws -> (objects: Int64, bytes: Int64) {
        let now = clock.now()
        let retention = Retention(organizationID: caller.organization.id, days: days)
        let affected = try await database.readInBackground { connection in
            guard days > 0 else { return (objects: Int64(0), bytes: Int64(0)) }
            return try ObjectRecords(connection).countExpired(
                organizationID: retention.organizationID, before: retention.limit(at: now))
        }
        if !isDryRun {
            try await database.write(mayUseReserve: true) { connection in
                try ObjectRecords(connection).setRetention(retention)
                try Audit.record(caller.did(to: "retention/\(days)"), at: now, in: connection)
            }
        }
        return affected
    }

    /// Deletes what is older than its organization keeps objects.
    ///
    /// - Returns: how many objects.
    func applyRetention(_ permit: DeletionPermit) async throws -> Int {
        var deleted = 0
        for organizationID in try await database.read({ try ObjectRecords($0).retentions() }).map(\.organizationID) {
            var count = batch
            while count == batch, !Task.isCancelled {
                count = try await deleteExpired(of: organizationID, permit)
                deleted += count
            }
        }
        return deleted
    }

    /// Removes what is left of objects that were deleted long ago.
    ///
    /// - Returns: of how many objects.
    func forgetDeleted(olderThan age: Duration, _ permit: DeletionPermit) async throws -> Int {
        var (sum, count) = (0, Self.recordBatch)
        while count == Self.recordBatch, !Task.isCancelled {
            count = try await database.write(mayUseReserve: true) {
                try ObjectRecords($0).forgetDeleted(olderThan: age, permit, count: Self.recordBatch)
            }
            sum += count
        }
        return sum
    }

    /// - Returns: how many objects; fewer than a batch where none is left.
    private func deleteExpired(of organizationID: Int64, _ permit: DeletionPermit) async throws -> Int {
        try await database.write(mayUseReserve: true) { connection in
            let now = try permit.now()
            let records = ObjectRecords(connection)
            // What stands there now counts: it may have been changed since the sweep began.
            let retention = Retention(
                organizationID: organizationID, days: try records.retentionDays(organizationID: organizationID))
            guard retention.days > 0 else { return 0 }
            let expired = try records.expired(retention, permit, count: batch)
            guard !expired.isEmpty else { return 0 }
            var entry = AuditEntry.byGateway(
                "ApplyRetention", on: "retention/\(retention.days)", count: expired.count)
            entry.organization = try Accounts.organization(organizationID, in: connection)
            try Audit.record(entry, at: now, in: connection)
            for object in expired {
                try remove(
                    object, by: entry.actor, reason: "older than \(retention.days) days", at: now, in: connection)
            }
            return expired.count
        }
    }

    private func remove(
        _ object: CatalogObject, by actor: String, reason: String, at now: UnixTime, in connection: Connection
    ) throws {
        try ObjectRecords(connection).bury(object, by: actor, reason: reason, at: now)
        try store.discard(uploadID: object.uploadID, in: connection)
    }
}
