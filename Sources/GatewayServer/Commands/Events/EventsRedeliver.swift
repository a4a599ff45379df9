import Basics
import CommandLineInterface
import JSON
import Proto

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
