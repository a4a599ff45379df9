import Basics
import Database

/// Removes what the audit log has held long enough, or what is too much of one organization. Nothing else deletes a line.
///
/// Each organization has its own maximum, and so have the lines of none: nobody can have another's lines removed by making many.
struct AuditRetention: Sendable {
    /// Lines in one transaction: other writes wait meanwhile.
    static let batch: Int64 = 1000
    /// Callers of an organization with so many times the maximum are slowed down.
    static let pressureFactor: Int64 = 2

    let database: Database
    let clock: any WallClock
    /// Lines that are older go.
    let age: Duration
    /// Lines that are younger are kept however many there are.
    let minimumAge: Duration
    /// Maximum number of lines of one organization.
    let maximumLines: Int64
    let pressure: AuditPressure

    /// - Parameter permit: `nil` = nothing goes for its age, and of what is too much only what no age protects.
    /// - Returns: how many lines it removed; the log says so, too.
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
            // A hundredth goes beside: the line that tells of it would be the next one too many.
            let kept = maximumLines - maximumLines / 100
            removed += try await purge(usage.organizationID, below: removable, at: now) { lines in
                lines > kept ? min(Self.batch, lines - kept + 1) : 0
            }
        }
        try await updatePressure()
        return removed
    }

    /// Removes an organization's oldest lines, batch after batch.
    ///
    /// - Parameters:
    ///   - end: lines with this id and above stay.
    ///   - count: how many go next, of those that are there.
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
                    ?? OrganizationReference(id: usage.organizationID, name: "")
            }
            let slowed = usages.filter { $0.lines / Self.pressureFactor >= maximumLines }
            return (overfull, Set(slowed.map(\.organizationID)))
        }
        pressure.set(overfull: overfull, slowed: slowed)
    }
}
