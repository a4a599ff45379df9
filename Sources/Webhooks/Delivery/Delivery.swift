import Basics
import HTTPClient

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

/// The evaluation of an attempt's response. Pure: time and randomness are parameters.
struct DeliveryRules: Sendable {
    /// The number of characters of an error that are stored.
    private static let longestReason = 256

    let policy: RetryPolicy

    init(_ configuration: WebhooksConfiguration) {
        var policy = RetryPolicy(retryDuration: configuration.retryDuration)
        policy.base = .seconds(1)
        policy.cap = configuration.longestRetry
        // Only the time limits retries, since an attempt costs little.
        policy.attempts = 1
        self.policy = policy
    }

    /// - Parameters:
    ///   - result: the status and the earliest time for a retry, in seconds; or the reason why there was no response.
    ///   - random: 0 to 1.
    func outcome(
        of result: Result<(status: Int, retryAfter: Int64?), TransferFailure>, for delivery: Delivery, at now: UnixTime,
        random: Double
    ) -> DeliveryOutcome {
        let reason: String
        var least: Duration?
        switch result {
        case .success((200..<300, _)): return .delivered
        case .success((300..<400, _)):
            reason = "the webhook answered with a redirect, which the gateway does not follow"
        case .success((let status, let retryAfter)):
            reason = "the webhook answered with HTTP status \(status)"
            least = retryAfter.map { .seconds($0) }
        case .failure(let failure): reason = String("\(failure)".prefix(Self.longestReason))
        }
        let elapsed = now.duration(since: delivery.firstFailedAt ?? now)
        let delay = policy.delay(failures: delivery.attempts + 1, elapsed: elapsed, least: least, random: random)
        guard let delay else { return .dead(reason: reason) }
        return .retry(at: now.adding(delay), reason: reason)
    }
}
