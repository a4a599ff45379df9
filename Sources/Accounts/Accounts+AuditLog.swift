import Basics
import Database

/// The pages of the audit log.
extension Accounts {
    /// Returns a page of the audit log, and the id at its end.
    ///
    /// - Parameter after: `nil` = from the beginning.
    func auditLines(
        since: UnixTime?, after id: Int64?, limit: Int, for caller: Caller
    ) async throws -> (lines: [AuditRecord], end: Int64) {
        let since = since ?? UnixTime(microseconds: 0)
        return try await database.read { connection in
            let start = try id.map { $0 + 1 } ?? AuditRecords(connection).start(since: since)
            let lines = try AuditRecords(connection).page(
                start..<Int64.max, organization: Self.audited(by: caller), since: since, limit: limit)
            return (lines, lines.last?.id ?? start - 1)
        }
    }

    /// Returns the lines before the line `id`, newest first; `nil` = from the last line on.
    func auditLines(since: UnixTime?, before id: Int64?, limit: Int, for caller: Caller) async throws -> [AuditRecord] {
        let since = since ?? UnixTime(microseconds: 0)
        return try await database.read { connection in
            let end = id ?? Int64.max
            let start = min(try AuditRecords(connection).start(since: since), end)
            return try AuditRecords(connection).page(
                start..<end, newestFirst: true, organization: Self.audited(by: caller), since: since, limit: limit)
        }
    }

    /// Returns the organization whose audit lines a caller sees; `nil` = all.
    private static func audited(by caller: Caller) -> Int64? { caller.isSystem ? nil : caller.organization.id }
}
