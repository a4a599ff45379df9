import Webhooks

extension EventMetrics: MetricSource {
    package var families: [MetricFamily] { Self.families(snapshot) }

    static func families(_ snapshot: [(webhook: String, counts: Counts)]) -> [MetricFamily] {
        let told = snapshot.map { ([("webhook", $0.webhook)], $0.counts) }
        let queues = told.compactMap { labels, counts in counts.queue.map { (labels, $0) } }
        return [
            .counter(
                "data_gateway_events_delivered_total", "Events that a webhook took.", told.map { ($0, $1.delivered) }),
            .counter(
                "data_gateway_events_failed_attempts_total", "Attempts that a webhook did not take.",
                told.map { ($0, $1.failed) }),
            .gauge("data_gateway_events_pending", "Events that wait for a webhook.", queues.map { ($0, $1.pending) }),
            .gauge("data_gateway_events_dead", "Dead letters of a webhook.", queues.map { ($0, $1.dead) }),
            .gauge(
                "data_gateway_events_oldest_pending_seconds", "Since the oldest event happened that waits.",
                queues.map { ($0, $1.oldestPendingSeconds) }),
        ]
    }
}
