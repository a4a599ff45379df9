package import Basics
package import Database
import ObjectStore
import Synchronization
package import Webhooks

/// Takes the backups of the schedules: one at a time, each when it is due, verified and rotated.
package final class BackupScheduler: Sendable {
    /// The first wait after a failure; it doubles with each further failure.
    private static let firstRetry = Duration.seconds(60)
    private static let longestRetry = Duration.seconds(3600)

    /// The failures of a schedule since its last success.
    private struct Failures {
        var count = 0
        var retryAt: ContinuousClock.Instant?
    }

    package let metrics: BackupMetrics
    private let schedules: [BackupSchedule]
    private let session: ArchiveSession
    private let turn: BackupTurn
    private let steps: ScheduledBackup
    private let log: Logger

    /// - Parameters:
    ///   - turn: shared with everything else that takes backups.
    ///   - migrations: those of this program, for verifications.
    package init(
        _ schedules: [BackupSchedule], _ session: ArchiveSession, turn: BackupTurn, outbox: Outbox,
        migrations: [Migration], log: Logger
    ) {
        self.schedules = schedules
        self.session = session
        self.turn = turn
        steps = ScheduledBackup(session: session, outbox: outbox, migrations: migrations)
        self.log = log
        metrics = BackupMetrics(schedules)
    }

    /// Works until its task is cancelled.
    ///
    /// - Parameter pause: the wait between two looks at the clock.
    package func run(pause: Duration = .seconds(5)) async {
        await readManual()
        guard !schedules.isEmpty else { return }
        var failures: [String: Failures] = [:]
        for schedule in schedules {
            await recover(schedule)
            // An earlier process may have been killed between a backup and this, however often.
            if !session.store.isForeign { await rotate(schedule) }
        }
        while !Task.isCancelled {
            for schedule in schedules where !Task.isCancelled {
                var history = failures[schedule.name] ?? Failures()
                guard history.retryAt.map({ $0 <= .now }) ?? true, await isDue(schedule) else { continue }
                switch await perform(schedule) {
                case true?: history = Failures()
                case false?:
                    let wait = min(Self.longestRetry, Self.firstRetry * (1 << min(history.count, 10)))
                    history = Failures(count: history.count + 1, retryAt: .now + wait)
                case nil: break
                }
                failures[schedule.name] = history
            }
            try? await Task.sleep(for: pause)
        }
    }

    /// Reads the time of the last manual backup, which an earlier process may have recorded.
    private func readManual() async {
        do {
            guard let last = try await session.database.read({ try BackupRecords($0).lastManual() }) else { return }
            if metrics.lastManual == nil { metrics.noteManual(last) }
        } catch {
            log.write("the last manual backup cannot be read", ["error": "\(error)"], level: .error)
        }
    }

    private func isDue(_ schedule: BackupSchedule) async -> Bool {
        do {
            let last = try await session.database.read { try BackupRecords($0).lastComplete(schedule) }
            return schedule.isDue(at: session.clock.now(), last: last?.startedAt)
        } catch {
            log.write(
                "a backup schedule cannot be read", ["schedule": schedule.name, "error": "\(error)"], level: .error)
            return false
        }
    }

    /// Takes a backup.
    ///
    /// - Returns: whether it is complete; `nil` if another backup is running, or the gateway stops.
    private func perform(_ schedule: BackupSchedule) async -> Bool? {
        // An error is that of the database, which had no lease to give.
        (try? await turn.run { await take(schedule) }).flatMap(\.self) ?? nil
    }

    private func take(_ schedule: BackupSchedule) async -> Bool? {
        metrics.update(schedule.name) { $0.isRunning = true }
        defer { metrics.update(schedule.name) { $0.isRunning = false } }
        let start = ContinuousClock.now
        let now = session.clock.now()
        var begun: ScheduledRun?
        do {
            var run = try await session.database.write { try BackupRecords($0).begin(schedule, at: now) }
            begun = run
            // With a database of another generation, the archive would replace those that have the right one.
            guard !session.store.isForeign else {
                throw DataDirectory.Problem(
                    description: "the database and the store were not last used together: run data-gateway doctor")
            }
            run.result = try await steps.write(run, of: schedule)
            if schedule.verifies { try await steps.verify(run, of: schedule) }
            run.result.duration = start.duration(to: .now)
            run.result.finishedAt = session.clock.now()
            run.state = .kept
            try await steps.end(run, of: schedule)
            metrics.succeeded(schedule.name, run.result)
            log.write(
                "a scheduled backup is complete",
                [
                    "schedule": schedule.name, "archive": run.archive, "bytes": "\(run.result.size)",
                    "objects": "\(run.result.objects)", "lost_objects": "\(run.result.lostObjects)",
                ], level: run.result.lostObjects == 0 ? .info : .warning)
            await rotate(schedule)
            return true
        } catch {
            let isStopped = Task.isCancelled
            let reason = isStopped ? "the gateway stopped" : "\(error)"
            if !isStopped {
                metrics.update(schedule.name) { $0.failures += 1 }
                log.write(
                    "a scheduled backup failed", ["schedule": schedule.name, "error": reason], level: .error)
            }
            guard var run = begun else { return isStopped ? nil : false }
            run.state = .failed
            run.result.finishedAt = session.clock.now()
            run.result.duration = start.duration(to: .now)
            try? await steps.end(run, of: schedule, reason: reason, isReported: !isStopped)
            return isStopped ? nil : false
        }
    }

    /// Removes the archives beyond the number that is kept; one that cannot be removed is tried again after the next backup.
    private func rotate(_ schedule: BackupSchedule) async {
        do {
            let kept = try await session.database.read { try BackupRecords($0).runs(of: schedule, in: .kept) }
            var existing: [ScheduledRun] = []
            for run in kept {
                if try await schedule.destination.size(of: run.archive) != nil {
                    existing.append(run)
                } else {
                    try await session.database.write { try BackupRecords($0).setState(.removed, of: run.id) }
                }
            }
            for run in BackupRotation.surplus(of: existing, keeping: schedule.kept) {
                try await schedule.destination.remove(run.archive)
                try await session.database.write(mayUseReserve: true) {
                    try BackupRecords($0).setState(.removed, of: run.id)
                }
                log.write("an old backup was removed", ["schedule": schedule.name, "archive": run.archive])
            }
        } catch {
            log.write(
                "old backups cannot be removed", ["schedule": schedule.name, "error": "\(error)"], level: .warning)
        }
    }

    /// Ends the runs that an earlier process did not: a complete archive is verified and kept, the rest of another is removed.
    private func recover(_ schedule: BackupSchedule) async {
        do {
            if let last = try await session.database.read({ try BackupRecords($0).lastComplete(schedule) }) {
                metrics.succeeded(schedule.name, last.result)
            }
            for var run in try await session.database.read({ try BackupRecords($0).runs(of: schedule, in: .running) }) {
                try await schedule.destination.abandon(run.archive, multipartID: run.multipartID)
                var reason: String? = "the gateway ended during the backup"
                if let size = try await schedule.destination.size(of: run.archive) {
                    do {
                        let outcome = try await steps.examine(run, of: schedule)
                        run.result.size = size
                        run.result.objects = outcome.objects
                        run.result.lostObjects = outcome.missing.count + outcome.damaged.count
                        reason = nil
                    } catch {
                        if Task.isCancelled { return }
                        reason = "the gateway ended during the backup, and its archive is not valid: \(error)"
                    }
                }
                run.state = reason == nil ? .kept : .failed
                run.result.finishedAt = session.clock.now()
                try await steps.end(run, of: schedule, reason: reason)
                if reason == nil { metrics.succeeded(schedule.name, run.result) }
                log.write(
                    reason ?? "a scheduled backup of an earlier process is complete",
                    ["schedule": schedule.name, "archive": run.archive], level: reason == nil ? .info : .warning)
            }
        } catch {
            log.write(
                "an interrupted backup cannot be cleaned up", ["schedule": schedule.name, "error": "\(error)"],
                level: .warning)
        }
    }
}

/// The permission to take a backup, which one caller of all gateways has at a time.
package final class BackupTurn: Sendable {
    private let isTaken = Lock(false)
    private let leases: Leases

    package init(_ leases: Leases) {
        self.leases = leases
    }

    /// Runs `body`, unless another backup is running.
    ///
    /// - Returns: `nil` if another one is.
    nonisolated(nonsending) func run<T>(_ body: nonisolated(nonsending) () async throws -> T) async throws -> T? {
        let isFree = isTaken.withLock { isTaken in
            defer { isTaken = true }
            return !isTaken
        }
        guard isFree else { return nil }
        defer { isTaken.withLock { $0 = false } }
        return try await leases.holding("backup", for: "") { _ in try await body() }
    }
}

/// The rule of which archives of a schedule are removed.
///
/// It counts archives and ignores their times, so that a clock that steps removes none.
enum BackupRotation {
    /// Returns the archives to remove.
    ///
    /// - Parameters:
    ///   - runs: the archives that exist at the destination, newest first.
    ///   - kept: the number of archives to keep.
    static func surplus(of runs: [ScheduledRun], keeping kept: Int) -> [ScheduledRun] {
        // The newest archive with all objects may be the only copy of those that the newer archives lack.
        let whole = runs.first { $0.result.lostObjects == 0 }?.id
        return runs.dropFirst(kept).filter { $0.id != whole }
    }
}
