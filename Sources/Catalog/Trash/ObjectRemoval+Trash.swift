import Accounts
import Basics
import Database

/// The permanent deletion of objects in the trash, by their organization's setting.
extension ObjectRemoval {
    /// Returns the setting and the amount in the trash.
    func trash(for caller: Caller) async throws -> (grace: TrashGrace, content: Amount) {
        let organizationID = caller.organization.id
        return try await database.readInBackground { connection in
            let records = ObjectRecords(connection)
            return (
                try records.trashGrace(organizationID: organizationID),
                try records.countTrash(organizationID: organizationID)
            )
        }
    }

    /// - Returns: the amount that was in the trash for longer than that. The next sweep deletes it, unless this was a dry run.
    func setTrashGrace(days: Int32, isDryRun: Bool, by caller: Caller) async throws -> Amount {
        let now = clock.now()
        let organizationID = caller.organization.id
        let grace = TrashGrace(days: days)
        let affected = try await database.readInBackground { connection in
            try ObjectRecords(connection).countTrash(organizationID: organizationID, before: grace.limit(at: now))
        }
        if !isDryRun {
            try await database.write(mayUseReserve: true) { connection in
                try ObjectRecords(connection).setTrashGrace(grace, organizationID: organizationID)
                try Audit.record(caller.did(to: "trash/\(days)"), at: now, in: connection)
            }
        }
        return affected
    }

    /// Deletes objects whose time in the trash is over.
    ///
    /// - Returns: the number of objects.
    func sweepTrash(_ permit: DeletionPermit) async throws -> Int {
        let organizations = try await database.read { connection in
            let records = ObjectRecords(connection)
            // Checked by a read, which costs no commit.
            return try SearchRecords(connection).organizations().filter { id in
                let grace = try records.trashGrace(organizationID: id)
                return try !records.purgeable(organizationID: id, grace, permit, count: 1).isEmpty
            }
        }
        return try await inTurns(organizations) { organizationID in
            let purged = try await purgeBatch(of: organizationID, permit)
            return (purged, purged < batch)
        }
    }

    /// - Returns: the number of objects; fewer than a batch if none is left.
    private func purgeBatch(of organizationID: Int64, _ permit: DeletionPermit) async throws -> Int {
        try await database.write(mayUseReserve: true) { connection in
            let now = try permit.now()
            let records = ObjectRecords(connection)
            // Read again, because an object may have been restored since the sweep began.
            let grace = try records.trashGrace(organizationID: organizationID)
            let purgeable = try records.purgeable(organizationID: organizationID, grace, permit, count: batch)
            guard !purgeable.isEmpty else { return 0 }
            var entry = AuditEntry.byGateway("SweepTrash", on: "trash/\(grace.days)", count: purgeable.count)
            entry.organization = try Accounts.organization(organizationID, in: connection)
            entry.ids = purgeable.map(\.fileID)
            try Audit.record(entry, at: now, in: connection)
            for object in purgeable {
                let trashing = try records.trashing(of: object)
                let order = Order(actor: trashing?.actor ?? entry.actor, reason: trashing?.reason ?? "")
                try purge(object, order, at: now, in: connection)
            }
            return purgeable.count
        }
    }
}

/// The time that an organization's objects stay in the trash.
struct TrashGrace: Sendable, Hashable {
    /// The default for organizations without a setting.
    static let defaultDays: Int32 = 7
    /// The shortest time in the trash. URLs issued before with a longer lifetime end with the object.
    private static let longestDownload = Duration.hours(1)

    /// The time in days; 0 = objects are deleted at once.
    let days: Int32

    /// Returns the time before which trashed objects are deleted.
    func limit(at now: UnixTime) -> UnixTime { now.subtracting(length) }

    /// Returns the time at which an object that was trashed at `time` is deleted.
    func end(from time: UnixTime) -> UnixTime { time.adding(length) }

    private var length: Duration { max(.days(Int64(days)), Self.longestDownload) }
}
