import Basics

/// An event that one webhook is to be told of, and what came of it so far.
struct Delivery: Sendable, Hashable {
    /// The event's position in the order of the commits.
    let position: Int64
    let eventID: String
    let subject: String
    let payload: String
    let traceparent: String?
    /// Attempts that failed.
    let attempts: Int
    let firstFailedAt: UnixTime?
}

/// What came of an attempt.
enum DeliveryOutcome: Sendable, Hashable {
    case delivered
    case retry(at: UnixTime, reason: String)
    case dead(reason: String)
}
