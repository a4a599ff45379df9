package import CommandLineInterface
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
        ]
    }
}
