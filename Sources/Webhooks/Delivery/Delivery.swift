import Basics

/// The delivery of an event to one webhook, and its state.
struct Delivery: Sendable, Hashable {
    /// The event's position in the order of commits.
    let position: Int64
    let organizationID: Int64
    let eventID: String
    let subject: String
    let payload: String
    let traceparent: String?
    /// The number of failed attempts.
    let attempts: Int
    let firstFailedAt: UnixTime?
}

/// The result of an attempt.
enum DeliveryOutcome: Sendable, Hashable {
    case delivered
    case retry(at: UnixTime, reason: String)
    case dead(reason: String)
}

/// The result of an attempt, to be recorded.
struct DeliveryResult: Sendable, Hashable {
    let delivery: Delivery
    let webhook: String
    let outcome: DeliveryOutcome
    /// The end of the attempt.
    let time: UnixTime
}

/// The deliveries that may begin now.
struct DueDeliveries: Sendable, Hashable {
    var deliveries: [Delivery] = []
    /// The time at which further ones become due; `nil` if only the end of an attempt or a new event makes one due.
    var nextDueAt: UnixTime?
}

extension Logger {
    /// Logs that an event has become a dead letter.
    func writeDeadLetter(_ eventID: String, of webhook: String, because reason: String) {
        write(
            "an event could not be delivered and is a dead letter",
            ["event_id": eventID, "webhook": webhook, "why": reason], level: .warning)
    }

    /// Logs why the outbox could not be read or written; it is retried after a while.
    func writeDeliveryFailure(_ error: any Error) {
        write("events cannot be sent now", ["error": "\(error)"], level: .error)
    }
}
