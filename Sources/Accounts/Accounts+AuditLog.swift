import Basics
import Database

/// The pages of the audit log.
extension Accounts {
    /// Returns the lines after the line `id`, and the id at which they end.
    ///
    /// - Parameter id: `nil` = from the beginning.
    func auditLines(
        since: UnixTime?, after id: Int64?, limit: PageLimit, for caller: Caller
    ) async throws -> (lines: [AuditRecord], end: Int64) {
        let since = since ?? UnixTime(microseconds: 0)
        let start = try await database.read { connection in
            try id.map { $0 + 1 } ?? AuditRecords(connection).start(since: since)
        }
        let page = try await database.readPage(limit) { connection, limit, last in
            try AuditRecords(connection).page(
                (last.map { $0.id + 1 } ?? start)..<Int64.max, organization: Self.audited(by: caller), since: since,
                limit: limit)
        }
        return (page.rows, page.rows.last?.id ?? start - 1)
    }

    /// Returns the lines before the line `id`, newest first; `nil` = from the last line on.
    func auditLines(
        since: UnixTime?, before id: Int64?, limit: PageLimit, for caller: Caller
    ) async throws -> PageRows<AuditRecord> {
        let since = since ?? UnixTime(microseconds: 0)
        return try await database.readPage(limit) { connection, limit, last in
            let end = last?.id ?? id ?? Int64.max
            let start = min(try AuditRecords(connection).start(since: since), end)
            return try AuditRecords(connection).page(
                start..<end, newestFirst: true, organization: Self.audited(by: caller), since: since, limit: limit)
        }
    }

    /// Returns the organization whose audit lines a caller sees; `nil` = all.
    private static func audited(by caller: Caller) -> Int64? { caller.isSystem ? nil : caller.organization.id }
}
