import Basics
import Database
import GatewayAPI
package import Proto
package import RPC

/// The gRPC service for the audit log, for admins.
package struct AuditService: AuditServiceHandler {
    let accounts: Accounts
    let pageTokens: PageTokens

    package func listAuditLines(
        _ request: ListAuditLinesRequest, context: CallContext
    ) async throws -> ListAuditLinesResponse {
        let caller = try Caller(context)
        let since = try request.since.map { since throws(RPCError) in
            guard let time = since.time else { throw .invalidArgument("since is not a valid time") }
            return time
        }
        let page = try Page(
            size: request.pageSize, token: request.pageToken, tokens: pageTokens,
            scope: "audit|\(caller.user.userID)|\(caller.organization.id)|\(since?.microseconds ?? .min)"
                + (request.newestFirst ? "|newest" : ""))
        if request.newestFirst {
            let lines = try await accounts.auditLines(
                since: since, before: Int64(page.cursor), limit: page.limit, for: caller)
            return ListAuditLinesResponse(
                lines: lines.rows.map(\.message), nextPageToken: page.next(after: lines) { "\($0.id)" })
        }
        let (lines, end) = try await accounts.auditLines(
            since: since, after: Int64(page.cursor), limit: page.limit, for: caller)
        return ListAuditLinesResponse(lines: lines.map(\.message), nextPageToken: page.token(after: "\(end)"))
    }
}

extension AuditRecord {
    fileprivate var message: AuditLine {
        AuditLine(
            lineID: id, at: Timestamp(at), actor: entry.actor, organization: entry.organization?.name ?? "",
            action: entry.action,
            target: entry.target, peer: entry.peer, result: entry.result, count: Int64(entry.count), ids: entry.ids)
    }
}

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
