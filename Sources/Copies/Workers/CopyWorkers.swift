import Database
import ObjectStore
import Platform
import Synchronization
import Transfer

/// Take items and copy them, so many at a time, until their task is cancelled.
///
/// An item that fails for a reason that may pass goes back into the queue with the time when it is due again, so that a
/// destination that is away holds no worker. Jobs take turns: the one that waited longest gives the next item.
final class CopyWorkers: Sendable {
    /// After trouble with the database.
    private static let pause = Duration.seconds(5)

    let configuration: CopyConfiguration
    let metrics: CopyMetrics
    private let database: Database
    private let store: ObjectStore
    private let clock: any WallClock
    private let bell = Bell()
    /// What is being copied, by job and number.
    private let running = Mutex<[String: [Int: Task<Void, Never>]]>([:])

    init(database: Database, store: ObjectStore, clock: any WallClock, configuration: CopyConfiguration) {
        self.database = database
        self.store = store
        self.clock = clock
        self.configuration = configuration
        metrics = CopyMetrics(database: database)
    }

    /// There may be something to do.
    func wake() { bell.ring() }

    /// Ends the attempts of a job that was canceled, and has what they left cleared away.
    func stop(job id: String) {
        let tasks = running.withLock { $0[id]?.values.map(\.self) ?? [] }
        for task in tasks { task.cancel() }
        wake()
    }

    /// What copies there; `nil` where the configuration does not list it.
    func writer(for place: CopyPlace) -> (any DestinationWriter)? {
        place.writer(among: configuration.destinations, environment: CopyEnvironment(clock: clock))
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
            // Asked first: what comes after it wakes at once.
            let rings = bell.rings
            await persistently {
                if let claim = try await self.claim() {
                    await self.attend(to: claim)
                } else {
                    await self.rest(since: rings)
                }
            }
        }
    }

    private func persistently(_ body: () async throws -> Void) async {
        while !Task.isCancelled {
            do {
                return try await body()
            } catch {
                configuration.onFailure(error)
                try? await Task.sleep(for: Self.pause)
            }
        }
    }

    /// Until somebody rings, or the next item that waits is due.
    private func rest(since rings: Int) async {
        let now = clock.now()
        let due = (try? database.read { try CopyRecords($0).nextDue(after: now) }) ?? nil
        let alarm = due.map { due in
            Task { [bell] in
                try await Task.sleep(for: .microseconds(due.microseconds - now.microseconds))
                bell.ring()
            }
        }
        await bell.wait(after: rings)
        alarm?.cancel()
    }

    /// The next item, which is this worker's from now on.
    private func claim() async throws -> CopyAttempt? {
        let now = clock.now()
        // Looking costs no commit.
        guard try database.read({ try CopyRecords($0).next(at: now) }) != nil else { return nil }
        let claimed = try await database.write { connection -> (CopyJob, CopyItem)? in
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
            return (job, item)
        }
        return claimed.map { job, item in
            CopyAttempt(
                job: job, item: item, writer: writer(for: job.place), database: database, store: store, clock: clock,
                patience: configuration.patience, metrics: metrics)
        }
    }

    private func attend(to attempt: CopyAttempt) async {
        let (job, number) = (attempt.job.id, attempt.item.number)
        let task = Task { [configuration] in
            do {
                try await attempt.run()
            } catch {
                // Its row says that it is being copied: the next start takes it up again.
                configuration.onFailure(error)
            }
        }
        running.withLock { $0[job, default: [:]][number] = task }
        await withTaskCancellationHandler {
            await task.value
        } onCancel: {
            task.cancel()
        }
        running.withLock { running in
            running[job]?[number] = nil
            if running[job]?.isEmpty == true { running[job] = nil }
        }
    }
}
