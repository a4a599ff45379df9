package import CommandLineInterface
package import Proto

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
