import Basics
package import CommandLineInterface
import JSON
package import Proto

/// `data-gateway events webhooks`
struct EventsWebhooks: ClientCommand {
    static let name = "webhooks"
    static let summary = "List the webhooks of the configuration, with their counts"

    static var parameters: [Parameter<Self>] { connectionParameters }

    var connection = ConnectionOptions()

    func call(_ gateway: SignedInConnection) async throws -> Reply {
        Reply("webhooks", try await EventServiceClient(gateway).listWebhooks(ListWebhooksRequest()).webhooks)
    }
}

extension WebhookView: Resource {
    package static let columns = [
        "name", "url", "organization", "pending", "dead_letters", "delivered", "failed_attempts",
    ]

    package var fields: [ResourceField] {
        [
            .text("name", name), .text("url", url), .text("types", types.joined(separator: " ")),
            .text("organization", organization), .number("pending", pending, shownAs: "\(pending)"),
            .number("dead_letters", deadLetters, shownAs: "\(deadLetters)"),
            .number("delivered", delivered, shownAs: "\(delivered)"),
            .number("failed_attempts", failedAttempts, shownAs: "\(failedAttempts)"),
            .number("consecutive_failures", Int64(consecutiveFailures), shownAs: "\(consecutiveFailures)"),
            .text("last_error", lastError), .time("paused_until", pausedUntil),
        ]
    }
}

/// `data-gateway events deliveries`
struct EventsDeliveries: ClientCommand {
    static let name = "deliveries"
    static let summary = "List the deliveries of events to a webhook, newest event first"

    static var parameters: [Parameter<Self>] {
        [
            .argument("WEBHOOK", \.webhook, "The webhook's name, as printed by events webhooks"),
            .option("--limit", "N", \.limit, "Show at most this many deliveries (default: 100)"),
        ] + connectionParameters
    }

    var webhook = ""
    var limit: Int64 = 100
    var connection = ConnectionOptions()

    func call(_ gateway: SignedInConnection) async throws -> Reply {
        guard limit > 0 else { throw ClientFailure("--limit must be above 0", exitCode: .usage) }
        let service = EventServiceClient(gateway)
        var deliveries: [EventDelivery] = []
        var token = ""
        repeat {
            let rest = min(Int64(Pages.size), limit - Int64(deliveries.count))
            let page = try await service.listDeliveries(
                ListDeliveriesRequest(webhook: webhook, pageSize: Int32(clamping: rest), pageToken: token))
            deliveries += page.deliveries
            token = page.nextPageToken
        } while !token.isEmpty && deliveries.count < limit
        return Reply("deliveries", deliveries)
    }
}

extension EventDelivery: Resource {
    package static let columns = ["event_id", "type", "subject", "state", "failed_attempts", "ended_at", "last_error"]
    package static let expendableColumns = ["failed_attempts", "ended_at", "last_error", "subject"]

    package var fields: [ResourceField] {
        let word = "\(state)"
        return [
            .text("event_id", eventID), .text("type", type), .text("subject", subject),
            .text("organization", organization), .time("occurred_at", occurredAt),
            .text("state", "DELIVERY_STATE_\(word.uppercased())", shownAs: word),
            .number("failed_attempts", Int64(failedAttempts), shownAs: "\(failedAttempts)"), .time("due_at", dueAt),
            .time("ended_at", endedAt), .text("last_error", lastError),
        ]
    }
}

/// `data-gateway events test`
struct EventsTest: ClientCommand {
    static let name = "test"
    static let summary = "Send a test event to a webhook"

    static var parameters: [Parameter<Self>] {
        [.argument("WEBHOOK", \.webhook, "The webhook's name, as printed by events webhooks")] + connectionParameters
    }

    var webhook = ""
    var connection = ConnectionOptions()

    func call(_ gateway: SignedInConnection) async throws -> Reply {
        let reply = try await EventServiceClient(gateway).sendTestEvent(SendTestEventRequest(webhook: webhook))
        return Reply(
            json: .object([JSONValue.Member(name: "event_id", value: .string(reply.eventID))]),
            text:
                "event \(reply.eventID) will be delivered to \(webhook); 'events deliveries \(webhook)' shows the result"
        )
    }
}

/// `data-gateway events retry`
struct EventsRetry: ClientCommand {
    static let name = "retry"
    static let summary = "End the pause of a webhook, and try its waiting events now"

    static var parameters: [Parameter<Self>] {
        [.argument("WEBHOOK", \.webhook, "The webhook's name, as printed by events webhooks")] + connectionParameters
    }

    var webhook = ""
    var connection = ConnectionOptions()

    func call(_ gateway: SignedInConnection) async throws -> Reply {
        let reply = try await EventServiceClient(gateway).retryWebhook(RetryWebhookRequest(webhook: webhook))
        return Reply(
            json: .object([JSONValue.Member(name: "deliveries", value: .number(Int64(reply.deliveries)))]),
            text: "\(reply.deliveries) waiting deliveries to \(webhook) are due now")
    }
}

/// `data-gateway events dead-letters`
struct EventsDeadLetters: ClientCommand {
    static let name = "dead-letters"
    static let summary = "List dead letters, the events that could not be delivered to a webhook"

    static var parameters: [Parameter<Self>] {
        [.option("--webhook", "NAME", \.webhook, "List only dead letters of this webhook")] + connectionParameters
    }

    var webhook = ""
    var connection = ConnectionOptions()

    func call(_ gateway: SignedInConnection) async throws -> Reply {
        let service = EventServiceClient(gateway)
        return Reply(
            "dead_letters",
            try await Pages.all { token in
                let page = try await service.listDeadLetters(
                    ListDeadLettersRequest(webhook: webhook, pageSize: Pages.size, pageToken: token))
                return (page.deadLetters, page.nextPageToken)
            })
    }
}

extension DeadLetter: Resource {
    package static let columns = ["event_id", "webhook", "type", "subject", "given_up_at", "last_error"]
    package static let expendableColumns = ["subject", "given_up_at"]

    package var fields: [ResourceField] {
        [
            .text("event_id", eventID), .text("webhook", webhook), .text("type", type), .text("subject", subject),
            .text("organization", organization), .time("occurred_at", occurredAt),
            .number("attempts", Int64(attempts)), .time("given_up_at", givenUpAt), .text("last_error", lastError),
            .text("payload", payload),
        ]
    }
}

/// `data-gateway events redeliver`
struct EventsRedeliver: ClientCommand {
    static let name = "redeliver"
    static let summary = "Deliver a dead letter again"

    static var parameters: [Parameter<Self>] {
        [
            .argument("EVENT_ID", \.eventID, "The event's id, as printed by events dead-letters"),
            .option(
                "--webhook", "NAME", \.webhook,
                "Deliver only to this webhook (default: every webhook with this dead letter)"),
        ] + connectionParameters
    }

    var eventID = ""
    var webhook = ""
    var connection = ConnectionOptions()

    func call(_ gateway: SignedInConnection) async throws -> Reply {
        let reply = try await EventServiceClient(gateway).redeliverEvent(
            RedeliverEventRequest(eventID: eventID, webhook: webhook))
        return Reply(
            json: .object([JSONValue.Member(name: "webhooks", value: .array(reply.webhooks.map(JSONValue.string)))]),
            text: "\(eventID) will be delivered again to \(reply.webhooks.joined(separator: ", "))")
    }
}
