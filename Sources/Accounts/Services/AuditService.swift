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
