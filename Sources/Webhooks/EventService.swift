import Accounts
import Database
import GatewayAPI
import Proto
import RPC

/// The gRPC service EventService, which converts messages and calls the rules.
struct EventService: EventServiceHandler {
    private static let longestID = 64
    private static let longestWebhook = 64

    let letters: DeadLetters
    let directory: WebhookDirectory
    let tokens: PageTokens

    func listWebhooks(_ request: ListWebhooksRequest, context: CallContext) async throws -> ListWebhooksResponse {
        let caller = try Caller(context)
        let found = try await directory.webhooks(for: caller)
        return ListWebhooksResponse(
            webhooks: found.map { webhook, counts in
                let failing = directory.metrics.pauses.failing(webhook.name)
                return WebhookView(
                    name: webhook.name, url: String(webhook.url.prefix { $0 != "?" }),
                    types: webhook.types.map(\.rawValue).sorted(), organization: webhook.organization ?? "",
                    pending: counts?.queue.map { Int64($0.pending) } ?? -1,
                    deadLetters: counts?.queue.map { Int64($0.dead) } ?? -1, delivered: Int64(counts?.delivered ?? 0),
                    failedAttempts: Int64(counts?.failed ?? 0),
                    consecutiveFailures: Int32(clamping: failing?.attempts ?? 0), lastError: failing?.lastError ?? "",
                    pausedUntil: failing?.pausedUntil.map { Timestamp($0) })
            })
    }

    func retryWebhook(_ request: RetryWebhookRequest, context: CallContext) async throws -> RetryWebhookResponse {
        RetryWebhookResponse(
            deliveries: Int32(clamping: try await directory.retry(request.webhook, by: try Caller(context))))
    }

    func listDeliveries(
        _ request: ListDeliveriesRequest, context: CallContext
    ) async throws -> ListDeliveriesResponse {
        let caller = try Caller(context)
        let scope = caller.user.objectScope
        let page = try Page(
            size: request.pageSize, token: request.pageToken, tokens: tokens,
            scope: "deliveries|\(caller.user.userID)|\(scope.map(String.init) ?? "all")|\(request.webhook)")
        let found = try await directory.deliveries(
            to: request.webhook, before: Int64(page.cursor), limit: page.limit, for: caller)
        return ListDeliveriesResponse(
            deliveries: found.rows.map(\.message),
            nextPageToken: page.next(after: found) { String($0.position) })
    }

    func sendTestEvent(_ request: SendTestEventRequest, context: CallContext) async throws -> SendTestEventResponse {
        SendTestEventResponse(eventID: try await directory.sendTest(to: request.webhook, by: try Caller(context)))
    }

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
        let found = try await letters.page(
            of: request.webhook, after: page.cursor, limit: page.limit, scope: caller.user.objectScope)
        return ListDeadLettersResponse(
            deadLetters: found.rows.map(\.message), nextPageToken: page.next(after: found, cursor: \.cursor))
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
