import Database
import Platform

/// Removes what the audit log has held long enough, or what is too much for it. Nothing else deletes a line.
struct AuditRetention: Sendable {
    /// Lines in one transaction: other writes wait meanwhile.
    static let batch: Int64 = 1000

    let database: Database
    let clock: any WallClock
    let days: Int64
    let maximumLines: Int64

    /// - Returns: how many lines it removed; the log says so, too.
    func run() async throws -> Int {
        let now = clock.now()
        let oldest = now.adding(seconds: -days * 86_400)
        let (first, end) = try database.read { connection in
            let first = try AuditRecords.firstID(in: connection)
            // Ids have no gaps but for writes that failed, so that their distance is the number of lines. Where there are
            // too many a hundredth goes beside: the line that tells of it would be the next one too many.
            let last = try AuditRecords.lastID(in: connection)
            let isOver = last - (first ?? last) >= maximumLines
            let kept = isOver ? maximumLines - maximumLines / 100 : maximumLines
            return (first, max(try AuditRecords.start(since: oldest, in: connection), last - kept + 1))
        }
        guard let first, first < end else { return 0 }
        for start in stride(from: first, to: end, by: Int(Self.batch)) {
            try Task.checkCancellation()
            let next = min(start + Self.batch, end)
            try await database.write { connection in
                try AuditRecords.purge(below: next, in: connection)
                let entry = AuditEntry.byGateway(
                    "PurgeAuditLog", on: "auditLines/\(start)-\(next - 1)", count: Int(next - start))
                try Audit.record(entry, at: now, in: connection)
            }
        }
        return Int(end - first)
    }
}
