import Backup

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
