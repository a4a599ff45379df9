import Accounts
import Basics
import Database

/// Removal by age: the retention of an organization.
extension ObjectRemoval {
    func retentionDays(for caller: Caller) async throws -> Int32 {
        try await database.read { try ObjectRecords($0).retentionDays(organizationID: caller.organization.id) }
    }

    /// - Returns: what is older than that now. The next sweep removes it, unless this was a dry run.
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

    /// Removes what is older than its organization keeps objects.
    ///
    /// - Returns: how many objects.
    func applyRetention(_ permit: DeletionPermit) async throws -> Int {
        var removed = 0
        for organizationID in try await database.read({ try ObjectRecords($0).retentions() }).map(\.organizationID) {
            removed += try await inBatches(of: batch) { try await removeExpired(of: organizationID, permit) }
        }
        return removed
    }

    /// - Returns: how many objects; fewer than a batch where none is left.
    private func removeExpired(of organizationID: Int64, _ permit: DeletionPermit) async throws -> Int {
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
            let order = Order(actor: entry.actor, reason: "older than \(retention.days) days")
            let grace = try records.trashGrace(organizationID: organizationID)
            for object in expired { try remove(object, order, grace, at: now, in: connection) }
            return expired.count
        }
    }
}
