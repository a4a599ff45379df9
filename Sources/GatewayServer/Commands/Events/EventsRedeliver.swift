import Basics
import CommandLineInterface
import Proto

/// `data-gateway events redeliver`
struct EventsRedeliver: ClientCommand {
    static let name = "redeliver"
    static let summary = "Send an event again to a webhook that did not take it"

    static var parameters: [Parameter<Self>] {
        [
            .argument("EVENT_ID", \.eventID, "The event's id, as dead-letters has it"),
            .option("--webhook", "NAME", \.webhook, "Only to this one (default: all whose dead letter it is)"),
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
            text: "\(eventID) goes to \(reply.webhooks.joined(separator: ", ")) again")
    }
}
