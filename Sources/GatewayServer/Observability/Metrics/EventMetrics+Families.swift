import Webhooks

extension EventMetrics: MetricSource {
    package var families: [MetricFamily] { Self.families(snapshot) }

    static func families(_ snapshot: [(webhook: String, counts: Counts)]) -> [MetricFamily] {
        let told = snapshot.map { ([("webhook", $0.webhook)], $0.counts) }
        let queues = told.compactMap { labels, counts in counts.queue.map { (labels, $0) } }
        return [
            .counter(
                "data_gateway_events_delivered_total", "Events that were delivered to a webhook.",
                told.map { ($0, $1.delivered) }),
            .counter(
                "data_gateway_events_failed_attempts_total", "Failed attempts to deliver an event to a webhook.",
                told.map { ($0, $1.failed) }),
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
