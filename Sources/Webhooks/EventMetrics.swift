import Basics
package import Capability
import Database
import Synchronization

/// The counters of events by webhook; any thread may read them at any time.
package final class EventMetrics: Sendable {
    /// The events that wait for a webhook now.
    package struct Queue: Sendable, Hashable {
        package var pending: Int
        /// The number of dead letters.
        package var dead: Int
        /// The age of the oldest waiting event; 0 = none waits.
        package var oldestPendingSeconds: Int
    }

    /// The counters since the start, and the current queue.
    package struct Counts: Sendable, Hashable {
        package var delivered = 0
        /// The number of failed attempts, including final ones.
        package var failed = 0
        /// The queue; `nil` if the database cannot be read.
        package var queue: Queue?
    }

    let pauses = WebhookPauses()
    private let database: Database
    private let clock: any WallClock
    private let counts: Lock<[String: Counts]>

    init(webhooks: [String], database: Database, clock: any WallClock) {
        self.database = database
        self.clock = clock
        counts = Lock(Dictionary(uniqueKeysWithValues: webhooks.map { ($0, Counts()) }))
    }

    func note(_ outcome: DeliveryOutcome, of webhook: String) {
        counts.withLock { counts in
            switch outcome {
            case .delivered: counts[webhook]?.delivered += 1
            case .retry, .dead: counts[webhook]?.failed += 1
            }
        }
    }

    /// The counters of a webhook, without its queue.
    func counts(of webhook: String) -> Counts? { counts.withLock { $0[webhook] } }

    /// The counters with the webhooks' names, sorted by name. Counts the queues.
    package var snapshot: [(webhook: String, counts: Counts)] {
        let now = clock.now()
        return counts.withLock { $0 }.sorted { $0.key < $1.key }.map { webhook, counts in
            var counts = counts
            if let length = try? database.readBlocking({ try EventRecords($0).queueLength(of: webhook) }) {
                counts.queue = Queue(length, at: now)
            }
            return (webhook, counts)
        }
    }
}

extension EventMetrics.Queue {
    init(_ length: QueueLength, at now: UnixTime) {
        self.init(
            pending: Int(length.pending), dead: Int(length.dead),
            oldestPendingSeconds: length.oldestPendingAt.map { Int(max(0, now.seconds - $0.seconds)) } ?? 0)
    }
}

extension EventMetrics: MetricSource {
    package var families: [MetricFamily] { Self.families(snapshot) }

    static func families(_ snapshot: [(webhook: String, counts: Counts)]) -> [MetricFamily] {
        let labelled = snapshot.map { ([("webhook", $0.webhook)], $0.counts) }
        let queues = labelled.compactMap { labels, counts in counts.queue.map { (labels, $0) } }
        return [
            .counter(
                "data_gateway_events_delivered_total", "Events that were delivered to a webhook.",
                labelled.map { ($0, $1.delivered) }),
            .counter(
                "data_gateway_events_failed_attempts_total", "Failed attempts to deliver an event to a webhook.",
                labelled.map { ($0, $1.failed) }),
            .gauge(
                "data_gateway_events_pending", "Events that are waiting for delivery to a webhook.",
                queues.map { ($0, $1.pending) }),
            .gauge("data_gateway_events_dead", "Dead letters of a webhook.", queues.map { ($0, $1.dead) }),
            .gauge(
                "data_gateway_events_oldest_pending_seconds",
                "Age in seconds of the oldest event that is waiting for delivery.",
                queues.map { ($0, $1.oldestPendingSeconds) }),
        ]
    }
}
