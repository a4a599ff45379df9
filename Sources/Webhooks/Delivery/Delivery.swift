import Basics

/// The delivery of an event to one webhook, and its state.
struct Delivery: Sendable, Hashable {
    /// The event's position in the order of commits.
    let position: Int64
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
