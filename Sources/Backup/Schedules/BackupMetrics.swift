import Basics

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
