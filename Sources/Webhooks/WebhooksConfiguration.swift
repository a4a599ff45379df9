import Basics

/// The webhooks, how they are tried, and how long what was sent is kept.
package struct WebhooksConfiguration: Sendable {
    package var webhooks: [Webhook] = []
    /// Requests under way to one webhook.
    package var concurrency = 4
    /// The time for one request, from its connection to the end of its answer.
    package var timeout = Duration.seconds(30)
    /// The time between two attempts at most.
    package var longestRetry = Duration.hours(1)
    /// How long after the first failed attempt another may begin; then the an event could not be delivered and is a dead letter.
    package var patience = Duration.days(1)
    /// Events that may wait for one webhook; of more, the oldest become dead letters.
    package var maximumPending: Int64 = 100_000
    /// Bytes of events that may wait for one webhook, and of its dead letters as many; of more, the oldest become dead letters,
    /// or go.
    package var maximumBytes: Int64 = 1 << 30
    /// Dead letters of one webhook that are kept at most, the youngest.
    package var maximumDeadLetters: Int64 = 10_000
    /// How long a delivered event is kept, and a dead letter.
    package var deliveredRetention = Duration.days(7)
    package var deadLetterRetention = Duration.days(90)

    package init() {}
}
