import Accounts
import GatewayAPI
import Proto
import RPC

/// The gRPC service EventService, which converts messages and calls the rules.
struct EventService: EventServiceHandler {
    private static let longestID = 64
    private static let longestWebhook = 64

    let letters: DeadLetters
    let tokens: PageTokens

    func listDeadLetters(
        _ request: ListDeadLettersRequest, context: CallContext
    ) async throws -> ListDeadLettersResponse {
        let caller = try Caller(context)
        try FieldRules.note(request.webhook, field: "webhook", limit: Self.longestWebhook)
        let page = try Page(
            size: request.pageSize, token: request.pageToken, tokens: tokens,
            scope: """
                dead letters|\(caller.user.userID)|\(caller.user.objectScope.map(String.init) ?? "all")|\
                \(request.webhook)
                """)
        let (found, isLast) = try await letters.page(
            of: request.webhook, after: page.cursor, limit: page.size, scope: caller.user.objectScope)
        return ListDeadLettersResponse(
            deadLetters: found.map(\.message),
            nextPageToken: isLast ? "" : page.token(after: found.last?.cursor ?? page.cursor))
    }

    func redeliverEvent(
        _ request: RedeliverEventRequest, context: CallContext
    ) async throws -> RedeliverEventResponse {
        guard (1...Self.longestID).contains(request.eventID.utf8.count) else {
            throw RPCError.invalidArgument("event_id must be 1 to \(Self.longestID) bytes")
        }
        try FieldRules.note(request.webhook, field: "webhook", limit: Self.longestWebhook)
        return RedeliverEventResponse(
            webhooks: try await letters.redeliver(
                request.eventID, to: request.webhook, by: try Caller(context)))
    }
}

extension DeadLetterRecord {
    fileprivate var message: DeadLetter {
        DeadLetter(
            eventID: eventID, webhook: webhook, type: type, subject: subject, organization: organization,
            occurredAt: Timestamp(occurredAt), attempts: Int32(clamping: attempts), givenUpAt: Timestamp(givenUpAt),
            lastError: lastError, payload: payload)
    }
}
