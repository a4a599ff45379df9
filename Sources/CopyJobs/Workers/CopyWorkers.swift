import Accounts
import Basics
import Database
import ObjectStore
import Synchronization

/// Workers that copy items in parallel until their task is cancelled.
///
/// An item with a transient failure returns to the queue with the time when it is due again, so that an unreachable destination
/// does not occupy a worker. Organizations take turns, and within one its jobs: the one that waited longest provides the next item. No
/// organization occupies all workers, because an item for a slow destination can take hours.
final class CopyWorkers: Sendable {
    private struct Sharing {
        var turns = RoundRobin<Int64>()
        /// Whether a worker rests although an item is due, because the item's organization had its share.
        var holdsBack = false

        /// - Returns: whether a worker has to be woken.
        mutating func stopHoldingBack() -> Bool {
            defer { holdsBack = false }
            return holdsBack
        }
    }

    let configuration: CopyJobsConfiguration
    let metrics: CopyMetrics
    private let database: Database
    private let store: ObjectStore
    private let clock: any WallClock
    private let log: Logger
    private let signal = Signal()
    /// The workers that copy, shared by organizations.
    private let slots: SharedSlots<Int64>
    private let sharing = Lock(Sharing())
    /// The attempts in progress.
    private let running = RunningCopies()
    /// The time for which a claim lasts after it was renewed.
    private let claimDuration: Duration
    /// A random name of this process, for the claims on items.
    private let holder = "\(UInt64.random(in: 0 ... .max))"

    init(
        database: Database, store: ObjectStore, clock: any WallClock, configuration: CopyJobsConfiguration, log: Logger,
        claimDuration: Duration = .seconds(30)
    ) {
        self.claimDuration = claimDuration
        self.database = database
        self.store = store
        self.clock = clock
        self.configuration = configuration
        self.log = log
        slots = SharedSlots(limit: configuration.workers)
        metrics = CopyMetrics(database: database)
    }

    /// Wakes the workers, because there may be a new item.
    func wake() { signal.notify() }

    /// Stops the attempts of a canceled job, and has their remains removed.
    func stop(job id: String) {
        running.cancel(job: id)
        wake()
    }

    /// Returns the route of an organization's items to a destination; `nil` if the configuration does not list it, or not for them.
    func route(
        to place: CopyPlace, of organizationID: Int64, in connection: Connection
    ) throws -> CopyRoute? {
        for target in configuration.destinations {
            guard try target.admits(organizationID, in: connection),
                let writer = target.place.writer(for: place, CopyEnvironment(clock: clock))
            else { continue }
            let folder = try target.folder(of: organizationID, in: connection)
            return CopyRoute(writer: writer, prefix: folder.map { "\(target.name)/\($0)/" })
        }
        return nil
    }

    func run() async {
        if database.isExclusive {
            await persistently { try await self.database.write { try CopyRecords($0).requeueCopying() } }
        }
        await withTaskGroup(of: Void.self) { group in
            for _ in 0..<configuration.workers {
                group.addTask { await self.work() }
            }
            if !database.isExclusive { group.addTask { await self.keepClaims() } }
        }
        guard !database.isExclusive else { return }
        // Another process continues at once. If this fails, the claims end by themselves.
        try? await database.write { [holder] in try CopyRecords($0).requeueCopying(by: holder) }
    }

    private func work() async {
        while !Task.isCancelled {
            await persistently {
                // Both read first, so that later notifications and items that become due later are noticed.
                let (notified, now) = (self.signal.count, self.clock.now())
                guard try await self.workOnNextItem(at: now) else {
                    return try await self.rest(since: notified, now)
                }
                // Its slot is free again.
                if self.sharing.withLock({ $0.stopHoldingBack() }) { self.wake() }
            }
        }
    }

    /// Takes the next item, and copies it.
    ///
    /// - Returns: whether there was one for this worker.
    func workOnNextItem(at now: UnixTime) async throws -> Bool {
        guard let (attempt, slot) = try await claim(at: now) else { return false }
        await attend(to: attempt)
        withExtendedLifetime(slot) {}
        return true
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

    /// Logs why no item could be taken or recorded; it is retried after a while.
    private func report(_ error: any Error) {
        log.write("a copy failed", ["error": "\(error)"], level: .error)
    }

    /// Waits for a notification, or until the next waiting item is due.
    private func rest(since notified: Int, _ now: UnixTime) async throws {
        let due = try await database.read { try CopyRecords($0).nextDue(after: now) }
        await database.wait(for: signal, after: notified, atMost: due.map { $0.duration(since: now) })
    }

    /// Takes the next item for this worker, and a slot of its organization; `nil` if none is due, or only items of organizations that
    /// have their share of the workers.
    func claim(at now: UnixTime) async throws -> (attempt: CopyAttempt, slot: SharedSlots<Int64>.Slot)? {
        while true {
            // Checked by a read, which costs no commit.
            let waiting = try await database.read { try CopyRecords($0).organizations(at: now) }
            guard let (organizationID, slot) = takeTurn(of: waiting) else { return nil }
            // Without a result, another worker was faster, and other organizations may wait.
            if let attempt = try await claim(of: organizationID, at: now) { return (attempt, slot) }
        }
    }

    private func claim(of organizationID: Int64, at now: UnixTime) async throws -> CopyAttempt? {
        let end = ContinuousClock.now + claimDuration
        let claimed = try await database.write { connection -> (CopyJob, CopyItem, CopyRoute?)? in
            let records = CopyRecords(connection)
            guard var job = try records.next(organizationID: organizationID, at: now),
                var item = try records.nextItem(of: job.id, at: now)
            else { return nil }
            item.state = .copying
            item.claim.number += 1
            item.claim.holder = self.holder
            item.claim.until = try connection.time(self.clock).adding(self.claimDuration)
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
                retryDuration: configuration.retryDuration, metrics: metrics, end: end)
        }
    }

    /// Returns the organization whose turn it is, with a slot for it; `nil` if each of those that wait has its share of the workers.
    private func takeTurn(of waiting: [Int64]) -> (organizationID: Int64, slot: SharedSlots<Int64>.Slot)? {
        sharing.withLock { sharing in
            for organizationID in sharing.turns.order(waiting) {
                guard let slot = try? slots.take(for: organizationID) else { continue }
                sharing.turns.take(organizationID)
                return (organizationID, slot)
            }
            if !waiting.isEmpty { sharing.holdsBack = true }
            return nil
        }
    }

    private func attend(to attempt: CopyAttempt) async {
        // The attempt reads the job's state after its entry here, so a cancellation is noticed by one of the two.
        let task = running.begin(attempt.item, until: attempt.end) { try await attempt.run() }
        let result = await withTaskCancellationHandler {
            await task.result
        } onCancel: {
            task.cancel()
        }
        running.end(attempt.item)
        guard case .failure(let error) = result, !(error is CopyClaimLost) else { return }
        report(error)
        await requeueAfterFailure(attempt.item)
    }

    /// Returns an item to the queue, after a while, if its result could not be read or written.
    private func requeueAfterFailure(_ item: CopyItem) async {
        await persistently {
            let due = self.clock.now().adding(self.configuration.pause)
            try await self.database.write { try CopyRecords($0).requeue(item, due: due) }
        }
    }
}

/// The claims on items, and the changes of other processes.
extension CopyWorkers {
    /// The time between two renewals of the claims.
    private static let renewalInterval = Duration.seconds(5)

    /// Renews the claims, and looks each second for jobs that were canceled elsewhere, until the task is cancelled.
    private func keepClaims() async {
        var nextRenewal = ContinuousClock.now
        while (try? await Task.sleep(for: .seconds(1))) != nil {
            running.cancelEnded(at: .now)
            do {
                try await stopCanceled()
                guard nextRenewal <= .now else { continue }
                try await renewClaims()
                try await takeOver()
                nextRenewal = .now + Self.renewalInterval
            } catch {
                report(error)
            }
        }
    }

    /// Stops the attempts of jobs that were canceled by any process.
    func stopCanceled() async throws {
        guard !running.isEmpty else { return }
        for job in try await database.read({ try CopyRecords($0).canceling() }) { running.cancel(job: job) }
    }

    /// Renews the claims on the items that are being copied, and stops the attempts that have lost theirs.
    func renewClaims() async throws {
        let (items, begin) = (running.items, ContinuousClock.now)
        guard !items.isEmpty else { return }
        let kept = try await database.write(mayUseReserve: true) { [clock, claimDuration] connection in
            let end = try connection.time(clock).adding(claimDuration)
            return try items.map { try CopyRecords(connection).renewClaim(on: $0, until: end) }
        }
        for (item, isKept) in zip(items, kept) {
            if isKept { running.extend(item, to: begin + claimDuration) } else { running.cancel(item) }
        }
    }

    /// Returns the items whose processes have ended, or were stopped for too long, to the queue.
    func takeOver() async throws {
        let clock = clock
        let hasEnded = try await database.read { try CopyRecords($0).hasEndedClaims(at: $0.time(clock)) }
        guard hasEnded else { return }
        let count = try await database.write { try CopyRecords($0).requeueEndedClaims(at: $0.time(clock)) }
        if count > 0 { wake() }
    }
}
