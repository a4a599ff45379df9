import Accounts
import Basics
import Database
import ObjectStore
import Webhooks

/// Warns organizations of quotas that are nearly used up, and `system` of a disk that is nearly full: once, until the warning has ended.
struct StorageWarnings: Sendable {
    /// The number of warnings in one transaction.
    private static let batch = 100

    let database: Database
    let store: ObjectStore
    let outbox: Outbox
    let clock: any WallClock
    let quota: Live<QuotaConfiguration>

    /// Compares all usage with its limits.
    func run() async throws {
        let quota = quota.value
        var (levels, known) = try await database.readInBackground { connection in
            let records = StorageWarningRecords(connection)
            return (try records.levels(quota), try records.subjects())
        }
        if store.minimumFreeBytes > 0, let free = store.freeBytes {
            levels.append(StorageLevel(subject: .disk, bytes: free, limit: store.minimumFreeBytes))
        }
        let begun = levels.filter { $0.isNearlyFull && !known.contains($0.subject.name) }
        known.subtract(levels.filter { !$0.isRelieved }.map(\.subject.name))
        try await inBatches(Array(known)) { subjects, connection in
            for subject in subjects { try StorageWarningRecords(connection).end(subject) }
        }
        try await inBatches(begun) { levels, connection in
            for level in levels { try warn(of: level, in: connection) }
        }
    }

    private func warn(of level: StorageLevel, in connection: Connection) throws {
        let now = clock.now()
        let records = StorageWarningRecords(connection)
        guard try records.begin(level.subject, at: now),
            let organization = try records.organization(of: level.subject)
        else { return }
        var entry = AuditEntry.byGateway("ReportNearlyFullStorage", on: level.subject.name)
        entry.organization = organization
        try Audit.record(entry, at: now, in: connection)
        try outbox.record(
            .storageNearlyFull(level, organizationID: organization.id), organization: organization, at: now,
            in: connection)
    }

    /// The warnings of a full disk must be possible on it, so they may use the reserve.
    private func inBatches<Element: Sendable>(
        _ elements: [Element], _ body: @escaping @Sendable (ArraySlice<Element>, Connection) throws -> Void
    ) async throws {
        for start in stride(from: 0, to: elements.count, by: Self.batch) {
            try Task.checkCancellation()
            let some = elements[start..<min(start + Self.batch, elements.count)]
            try await database.write(mayUseReserve: true) { try body(some, $0) }
        }
    }
}
