import Accounts
import Basics
import Database
import ObjectStore

/// Take items and copy them, so many at a time, until their task is cancelled.
///
/// An item that fails for a reason that may pass goes back into the queue with the time when it is due again, so that a
/// destination that is away holds no worker. Jobs take turns: the one that waited longest gives the next item.
final class CopyWorkers: Sendable {
    let configuration: CopyJobsConfiguration
    let metrics: CopyMetrics
    private let database: Database
    private let store: ObjectStore
    private let clock: any WallClock
    private let log: Logger
    private let signal = Signal()
    /// What is being copied, by job and number.
    private let running = Lock<[String: [Int: Task<Void, any Error>]]>([:])

    init(
        database: Database, store: ObjectStore, clock: any WallClock, configuration: CopyJobsConfiguration, log: Logger
    ) {
        self.database = database
        self.store = store
        self.clock = clock
        self.configuration = configuration
        self.log = log
        metrics = CopyMetrics(database: database)
    }

    /// There may be something to do.
    func wake() { signal.notify() }

    /// Ends the attempts of a job that was canceled, and has what they left cleared away.
    func stop(job id: String) {
        let tasks = running.withLock { $0[id]?.values.map(\.self) ?? [] }
        for task in tasks { task.cancel() }
        wake()
    }

    /// How an organization's items come to a place; `nil` where the configuration does not list it, or not for them.
    ///
    /// - Parameter connection: the writer's.
    func route(
        to place: CopyPlace, of organizationID: Int64, in connection: Connection
    ) throws -> CopyRoute? {
        for target in configuration.destinations {
            guard try target.organizations?.contains(where: { try $0.id(in: connection) == organizationID }) ?? true,
                let writer = target.place.writer(for: place, CopyEnvironment(clock: clock))
            else { continue }
            // Without a list the destination is everybody's.
            let folder =
                target.organizations == nil ? try Accounts.nameAmongOthers(organizationID, in: connection) : nil
            return CopyRoute(writer: writer, prefix: folder.map { "\(target.name)/\($0)/" })
        }
        return nil
    }

    func run() async {
        await persistently { try await self.database.write { try CopyRecords($0).requeueCopying() } }
        await withTaskGroup(of: Void.self) { group in
            for _ in 0..<configuration.workers {
                group.addTask { await self.work() }
            }
        }
    }

    private func work() async {
        while !Task.isCancelled {
            await persistently {
                // Both asked first: what comes after it, or is due after it, wakes.
                let (notified, now) = (self.signal.count, self.clock.now())
                if let claim = try await self.claim(at: now) {
                    await self.attend(to: claim)
                } else {
                    try await self.rest(since: notified, now)
                }
            }
        }
    }

    private func persistently(_ body: () async throws -> Void) async {
        while !Task.isCancelled {
            do {
                return try await body()
            } catch {
                report(error)
                try? await Task.sleep(for: configuration.pause)
            }
        }
    }

    /// Says why no item could be taken, or nothing be written of one; it is tried again after a while.
    private func report(_ error: any Error) {
        log.write("a copy failed", ["error": "\(error)"], level: .error)
    }

    /// Waits until it is notified, or the next item that waits is due.
    private func rest(since notified: Int, _ now: UnixTime) async throws {
        let due = try await database.read { try CopyRecords($0).nextDue(after: now) }
        await signal.wait(after: notified, atMost: due.map { $0.duration(since: now) })
    }

    /// The next item, which is this worker's from now on.
    private func claim(at now: UnixTime) async throws -> CopyAttempt? {
        // Looking costs no commit.
        guard try await database.read({ try CopyRecords($0).next(at: now) }) != nil else { return nil }
        let claimed = try await database.write { connection -> (CopyJob, CopyItem, CopyRoute?)? in
            let records = CopyRecords(connection)
            guard var job = try records.next(at: now), var item = try records.nextItem(of: job.id, at: now) else {
                return nil
            }
            item.state = .copying
            if job.state != .canceling {
                item.attempts += 1
                job.state = .running
                job.startedAt = job.startedAt ?? now
                try records.update(job)
            }
            try records.update(item)
            try records.setClaimed(job.id, at: now)
            return (job, item, try self.route(to: job.place, of: job.organizationID, in: connection))
        }
        return claimed.map { job, item, route in
            CopyAttempt(
                job: job, item: item, route: route, database: database, store: store, clock: clock,
                patience: configuration.patience, metrics: metrics)
        }
    }

    private func attend(to attempt: CopyAttempt) async {
        let (job, number) = (attempt.job.id, attempt.item.number)
        // Its first look at the job comes behind its entry here: a cancellation meets one of them.
        let task = running.withLock { running in
            let task = Task { try await attempt.run() }
            running[job, default: [:]][number] = task
            return task
        }
        let result = await withTaskCancellationHandler {
            await task.result
        } onCancel: {
            task.cancel()
        }
        running.withLock { running in
            running[job]?[number] = nil
            if running[job]?.isEmpty == true { running[job] = nil }
        }
        guard case .failure(let error) = result else { return }
        report(error)
        await requeueAfterFailure(job, number)
    }

    /// What became of an item could not be read or written: after a while it is anybody's again.
    private func requeueAfterFailure(_ job: String, _ number: Int) async {
        await persistently {
            let due = self.clock.now().adding(self.configuration.pause)
            try await self.database.write { try CopyRecords($0).requeue(number, of: job, due: due) }
        }
    }
}
