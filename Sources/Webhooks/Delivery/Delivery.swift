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
