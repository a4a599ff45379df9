import Basics
import HTTPClient

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
