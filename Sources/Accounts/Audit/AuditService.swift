import Basics
import Capability
import Database
import GatewayAPI
package import Proto
package import RPC

/// The gRPC service for the audit log, for admins.
package struct AuditService: AuditServiceHandler {
    let accounts: Accounts
    let pageTokens: PageTokens
    let vocabulary: AuditVocabulary

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
            since: since ?? UnixTime(microseconds: 0), filter: try AuditFilter(request, vocabulary),
            newestFirst: isBackwards)
        let page = try Page(
            size: request.pageSize, token: request.pageToken, tokens: pageTokens,
            scope: "audit|\(caller.user.userID)|\(caller.organization.id)|\(since?.microseconds ?? .min)"
                + (isBackwards ? "|newest" : "") + (request.foldKeys ? "|folded" : "") + "|" + query.filter.scope)
        let found = try await AuditSearch(database: accounts.database, query: query).page(
            from: Int64(page.cursor), limit: page.limit, foldsKeys: request.foldKeys)
        return ListAuditLinesResponse(
            lines: try await messages(found.lines, withSentences: request.withSentences, for: caller),
            nextPageToken: found.next.map { page.token(after: "\($0)") } ?? "", hasMore: found.hasMore)
    }

    package func listAuditLineTargets(
        _ request: ListAuditLineTargetsRequest, context: CallContext
    ) async throws -> ListAuditLineTargetsResponse {
        let caller = try Caller(context)
        let id = request.lineID
        guard id > 0 else { throw RPCError.invalidArgument("line_id must be at least 1") }
        let scope = caller.scope
        return try await accounts.database.readInBackground { connection in
            guard let record = try AuditRecords(connection).find(id: id, organizationID: scope) else {
                throw RPCError.notFound("audit line \(id) does not exist")
            }
            let targets = record.entry.targets
            let names = try AuditNames(targets, vocabulary, organizationID: scope, in: connection)
            return ListAuditLineTargetsResponse(targets: targets.map { names.message(of: $0) })
        }
    }

    private func messages(
        _ records: [AuditRecord], withSentences: Bool, for caller: Caller
    ) async throws -> [AuditLine] {
        var lines = records.map(\.message)
        guard withSentences, !lines.isEmpty else { return lines }
        let sentences = try await accounts.database.readInBackground { connection in
            let words = try AuditWords(for: records, vocabulary, organizationID: caller.scope, in: connection)
            return records.map(words.sentence)
        }
        for (index, sentence) in sentences.enumerated() { lines[index].sentence = sentence }
        return lines
    }
}

extension Caller {
    /// The organization whose lines the caller sees; `nil` = all.
    fileprivate var scope: Int64? { isSystem ? nil : organization.id }
}

extension AuditNames {
    fileprivate func message(of target: AuditedTarget) -> AuditTarget {
        let name = name(of: target)
        let state: AuditTargetState =
            switch name?.state {
            case .present: .present
            case .trashed: .trashed
            case nil: knows(target) ? .absent : .unspecified
            }
        return AuditTarget(resource: name?.resource ?? target.text, displayName: name?.text ?? "", state: state)
    }
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
