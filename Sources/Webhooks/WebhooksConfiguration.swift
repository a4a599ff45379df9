import Basics

/// The webhooks, their retries and limits, and the retention of deliveries.
package struct WebhooksConfiguration: Sendable {
    /// The largest number of parallel requests to all webhooks; each of them blocks a thread of the process.
    package static let maximumRequests = 128

    package var webhooks: [Webhook] = []
    /// The largest number of parallel requests to one webhook; see ``requestsOfWebhook``.
    package var concurrency = 8
    /// The time limit of one request, from its connection to the end of its response.
    package var timeout = Duration.seconds(30)
    /// The longest time between two attempts.
    package var longestRetry = Duration.hours(1)
    /// The time after the first failed attempt in which further attempts may begin; then the event becomes a dead letter.
    package var retryDuration = Duration.days(1)
    /// The largest number of events that wait for one webhook; beyond it, the oldest become dead letters.
    package var maximumPending: Int64 = 100_000
    /// The largest number of bytes of events that wait for one webhook, and of its dead letters; beyond it, the oldest events
    /// become dead letters, and the oldest dead letters are removed.
    package var maximumBytes: Int64 = 1 << 30
    /// The largest number of dead letters of one webhook; beyond it, the oldest are removed.
    package var maximumDeadLetters: Int64 = 10_000
    /// The retention of delivered events and of dead letters.
    package var deliveredRetention = Duration.days(7)
    package var deadLetterRetention = Duration.days(90)

    package init() {}

    /// The number of parallel requests to one webhook: at most an equal share of ``maximumRequests``, so that webhooks do not wait for
    /// each other.
    var requestsOfWebhook: Int { min(concurrency, max(1, Self.maximumRequests / max(1, webhooks.count))) }
}
