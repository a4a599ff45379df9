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
        let isBackwards = request.newestFirst || request.foldKeys
        let query = AuditQuery(
            organizationID: caller.scope,
            since: since ?? UnixTime(microseconds: 0), filter: try AuditFilter(request),
            newestFirst: isBackwards)
        let page = try Page(
            size: request.pageSize, token: request.pageToken, tokens: pageTokens,
            scope: "audit|\(caller.user.userID)|\(caller.organization.id)|\(since?.microseconds ?? .min)"
                + (isBackwards ? "|newest" : "") + (request.foldKeys ? "|folded" : "") + "|" + query.filter.scope)
        let found = try await AuditSearch(database: accounts.database, query: query).page(
            from: Int64(page.cursor), limit: page.limit, foldsKeys: request.foldKeys)
        return ListAuditLinesResponse(
            lines: found.lines.map(\.message),
            nextPageToken: found.next.map { page.token(after: "\($0)") } ?? "", hasMore: found.hasMore)
    }
}

extension Caller {
    /// The organization whose lines the caller sees; `nil` = all.
    fileprivate var scope: Int64? { isSystem ? nil : organization.id }
}

extension AuditRecord {
    fileprivate var message: AuditLine {
        AuditLine(
            lineID: id, at: Timestamp(at), actor: entry.actor, organization: entry.organization?.name ?? "",
            action: entry.action,
            target: entry.target, peer: entry.peer, result: entry.result, count: Int64(entry.count), ids: entry.ids,
            lineCount: lines > 1 ? Int64(lines) : 0, firstAt: firstAt.map { Timestamp($0) })
    }
}
