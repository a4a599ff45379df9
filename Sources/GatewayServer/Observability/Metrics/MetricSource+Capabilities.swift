import Accounts
import Backup
import Catalog
import CopyJobs
import Webhooks

extension AuditPressure: MetricSource {
    package var families: [MetricFamily] {
        [
            .gauge(
                "data_gateway_audit_overfull_organizations",
                "Organizations that exceed audit.max_lines with audit lines that are too young to be deleted.",
                [([], overfullCount)]),
            .counter(
                "data_gateway_audit_refused_calls_total",
                "Calls that were refused because they would write more audit lines.", [([], refusedCount)]),
        ]
    }
}

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

extension ScrubMetrics: MetricSource {
    package var families: [MetricFamily] { snapshot.families }
}

extension ScrubMetrics.Counts {
    var families: [MetricFamily] {
        [
            .counter(
                "data_gateway_scrubbed_bytes_total", "Bytes of objects that the scrubber read.", [([], bytes)]),
            .counter(
                "data_gateway_scrub_passes_total", "Complete passes of the scrubber over all objects.", [([], passes)]),
            .counter(
                "data_gateway_scrub_failures_total",
                "Objects that were skipped and passes that were interrupted by an error; the log has the error.",
                [([], failures)]),
            .gauge(
                "data_gateway_bad_objects", "Objects whose bytes no longer match their checksum.",
                bad.map { [([], $0)] } ?? []),
        ]
    }
}

extension SearchUpgradeProgress: MetricSource {
    package var families: [MetricFamily] {
        [
            .gauge(
                "data_gateway_search_upgrade_objects",
                "Objects of earlier versions that are not in the search tables yet.",
                remaining.map { [([], $0)] } ?? [])
        ]
    }
}

extension CopyMetrics: MetricSource {
    package var families: [MetricFamily] { snapshot.families }
}

extension CopyMetrics.Counts {
    var families: [MetricFamily] {
        let (allJobs, allItems) = (CopyJobState.allCases, CopyItemState.allCases)
        return [
            .counter(
                "data_gateway_copy_jobs_total", "Finished copy jobs by state.",
                allJobs.filter(\.isFinished).map { ([("outcome", $0.label)], jobs[$0] ?? 0) }),
            .gauge(
                "data_gateway_copy_jobs", "Unfinished copy jobs by state.",
                unfinished.map { unfinished in
                    allJobs.filter { !$0.isFinished }.map { ([("state", $0.label)], unfinished.jobs[$0] ?? 0) }
                } ?? []),
            .counter(
                "data_gateway_copy_items_total", "Finished items of copy jobs by state.",
                allItems.filter(\.isFinished).map { ([("outcome", $0.label)], items[$0] ?? 0) }),
            .gauge(
                "data_gateway_copy_items", "Unfinished items of copy jobs by state.",
                unfinished.map { unfinished in
                    allItems.filter { !$0.isFinished }.map { ([("state", $0.label)], unfinished.items[$0] ?? 0) }
                } ?? []),
            .counter(
                "data_gateway_copy_retries_total", "Failed attempts at items that are retried.",
                [([], retries)]),
            .counter("data_gateway_copied_bytes_total", "Bytes that were copied to destinations.", [([], bytes)]),
        ]
    }
}

extension CopyJobState {
    fileprivate var label: String { self == .partialFailed ? "partial_failed" : "\(self)" }
}

extension CopyItemState {
    fileprivate var label: String { "\(self)" }
}

extension BackupMetrics: MetricSource {
    package var families: [MetricFamily] {
        let counts = snapshot
        func samples(_ value: (Counts) -> Int) -> [(MetricLabels, Int)] {
            counts.map { ([("schedule", $0.schedule)], value($0)) }
        }
        return [
            .gauge(
                "data_gateway_backup_last_success_timestamp_seconds",
                "Unix time in seconds when the last scheduled backup was complete; 0 before the first.",
                samples { Int($0.lastSuccess?.seconds ?? 0) }),
            .gauge(
                "data_gateway_manual_backup_last_success_timestamp_seconds",
                "Unix time in seconds when the last backup without a schedule was complete; 0 before the first.",
                [([], Int(lastManual?.seconds ?? 0))]),
            .gauge(
                "data_gateway_backup_last_duration_seconds",
                "Seconds that the last complete backup took, with its verification.",
                samples { Int($0.lastDuration.components.seconds) }),
            .gauge(
                "data_gateway_backup_last_size_bytes", "Size of the last complete backup's archive in bytes.",
                samples { Int($0.lastSize) }),
            .gauge(
                "data_gateway_backup_lost_objects",
                "Objects that the last complete backup contains without their bytes, because the store had lost them.",
                samples(\.lostObjects)),
            .gauge(
                "data_gateway_backup_interval_seconds", "Seconds from one scheduled backup to the next.",
                samples { Int($0.interval.components.seconds) }),
            .gauge(
                "data_gateway_backup_running", "1 while a scheduled backup is being taken, else 0.",
                samples { $0.isRunning ? 1 : 0 }),
            .counter(
                "data_gateway_backup_failures_total", "Scheduled backups that failed; the log has the error.",
                samples(\.failures)),
        ]
    }
}
