import Basics
import Database

/// Removes audit lines beyond their retention or beyond an organization's maximum. Nothing else deletes lines.
///
/// Each organization has its own maximum, and so have lines without an organization, so nobody can have another organization's
/// lines removed by producing many.
struct AuditRetention: Sendable {
    /// The number of lines removed in one transaction, during which other writes wait.
    static let batch: Int64 = 1000
    /// The multiple of the maximum at which an organization's callers are slowed down.
    static let pressureFactor: Int64 = 2

    let database: Database
    let clock: any WallClock
    /// The age from which lines are removed.
    let age: Duration
    /// The age up to which lines are kept regardless of their number.
    let minimumAge: Duration
    /// The maximum number of lines of one organization.
    let maximumLines: Int64
    let pressure: AuditPressure

    /// - Parameter permit: `nil` = nothing is removed by its age, and surplus lines only if no minimum age protects them.
    /// - Returns: the number of removed lines, which is also written to the log.
    func run(_ permit: DeletionPermit?) async throws -> Int {
        let now = clock.now()
        let (expired, removable, usages) = try await database.read { connection in
            func start(keeping age: Duration) throws -> Int64 {
                try permit.map { try AuditRecords(connection).start(keeping: age, $0) } ?? 0
            }
            return (
                try start(keeping: age), minimumAge == .zero ? Int64.max : try start(keeping: minimumAge),
                try AuditUsageRecords(connection).all()
            )
        }
        var removed = 0
        for usage in usages {
            removed += try await purge(usage.organizationID, below: expired, at: now) { _ in Self.batch }
            guard usage.lines > maximumLines else { continue }
            // One percent more is removed, because the line about the removal would exceed the maximum again.
            let kept = maximumLines - maximumLines / 100
            removed += try await purge(usage.organizationID, below: removable, at: now) { lines in
                lines > kept ? min(Self.batch, lines - kept + 1) : 0
            }
        }
        try await updatePressure()
        return removed
    }

    /// Removes an organization's oldest lines in batches.
    ///
    /// - Parameters:
    ///   - end: lines with this id and above stay.
    ///   - count: returns the size of the next batch for the number of lines left.
    private func purge(
        _ organizationID: Int64, below end: Int64, at now: UnixTime, count: @escaping @Sendable (Int64) -> Int64
    ) async throws -> Int {
        var removed = 0
        while true {
            try Task.checkCancellation()
            let ids = try await database.read { connection in
                let lines = try AuditUsageRecords(connection).lines(of: organizationID)
                return try AuditRecords(connection).oldest(
                    count(lines), of: organizationID, below: end)
            }
            guard let first = ids.first, let last = ids.last else { return removed }
            try await database.write(mayUseReserve: true) { connection in
                try AuditRecords(connection).purge(below: last + 1, of: organizationID)
                var entry = AuditEntry.byGateway("PurgeAuditLog", on: "auditLines/\(first)-\(last)", count: ids.count)
                entry.organization = try OrganizationRecords(connection).reference(id: organizationID)
                try Audit.record(entry, at: now, in: connection)
            }
            removed += ids.count
        }
    }

    private func updatePressure() async throws {
        let (overfull, slowed) = try await database.read { connection in
            let usages = try AuditUsageRecords(connection).all().filter { $0.lines > maximumLines }
            let overfull = try usages.map { usage in
                try OrganizationRecords(connection).reference(id: usage.organizationID)
                    ?? .unnamed(usage.organizationID)
            }
            let slowed = usages.filter { $0.lines / Self.pressureFactor >= maximumLines }
            return (overfull, Set(slowed.map(\.organizationID)))
        }
        pressure.set(overfull: overfull, slowed: slowed)
    }
}
