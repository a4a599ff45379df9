package import Basics
package import Capability
import Synchronization

/// The counters of scheduled backups, and the time of the last manual one; any thread may read them at any time.
package final class BackupMetrics: Sendable {
    /// The counters of one schedule.
    package struct Counts: Sendable, Equatable {
        /// The name of the schedule.
        package let schedule: String
        /// The time from one backup to the next.
        package let interval: Duration
        /// The end of the last complete backup; `nil` = no backup was completed.
        package internal(set) var lastSuccess: UnixTime?
        package internal(set) var lastDuration: Duration = .zero
        /// The size of the last archive in bytes.
        package internal(set) var lastSize: Int64 = 0
        /// The number of objects that are not intact in the last archive.
        package internal(set) var lostObjects = 0
        /// Failed backups since the start.
        package internal(set) var failures = 0
        package internal(set) var isRunning = false
    }

    private let counts: Lock<[Counts]>
    private let manual = Lock<UnixTime?>(nil)

    init(_ schedules: [BackupSchedule]) {
        counts = Lock(schedules.map { Counts(schedule: $0.name, interval: $0.interval) })
    }

    /// The counters of each schedule, in the order of the configuration.
    package var snapshot: [Counts] { counts.withLock { $0 } }

    /// The end of the last complete backup that somebody took with BackupService; `nil` = none.
    package var lastManual: UnixTime? { manual.withLock { $0 } }

    func noteManual(_ time: UnixTime) { manual.withLock { $0 = time } }

    func update(_ schedule: String, _ change: (inout Counts) -> Void) {
        counts.withLock { counts in
            guard let index = counts.firstIndex(where: { $0.schedule == schedule }) else { return }
            change(&counts[index])
        }
    }

    func succeeded(_ schedule: String, _ result: ScheduledRun.Result) {
        update(schedule) { counts in
            counts.lastSuccess = result.finishedAt
            counts.lastDuration = result.duration
            counts.lastSize = result.size
            counts.lostObjects = result.lostObjects
        }
    }
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
