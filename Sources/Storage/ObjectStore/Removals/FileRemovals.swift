import Basics
import Crypto
import Database
import Synchronization

/// Unlinks data files whose rows are gone, on a thread of its own: a large file takes a while, which would block an event loop.
///
/// A file is scheduled in the transaction that removes its row, and unlinked after the commit; files that are left after a crash, a
/// failure or a stop are still scheduled, and found by ``sweep()``. A file stays scheduled until its removal is durable: the database
/// may be on another file system, where a commit does not make the store's names durable, and after a power loss the file would be
/// back without anything that says that it was deleted.
final class FileRemovals: Sendable {
    private struct State {
        var waiting: [String] = []
        /// Number of active ``pausing(_:)`` scopes; no batch begins while it is above zero.
        var pauses = 0
        var isStopped = false
    }

    /// The number of files between two commits: small enough that a stop does not wait long, large enough that the rate does not
    /// depend on the commits.
    private static let batch = 256

    private let engine: any ObjectEngine
    private let database: Database
    private let clock: any WallClock
    /// The time for which files are kept for other gateways that may read them; `nil` without other gateways.
    private let delay: Duration?
    private let worker = Worker.serial("store.removals")
    private let state = Lock(State())

    init(_ engine: any ObjectEngine, _ database: Database, _ clock: any WallClock, delay: Duration?) {
        self.engine = engine
        self.database = database
        self.clock = clock
        self.delay = delay
    }

    /// Schedules files in `transaction`, and unlinks them after its commit, or leaves them to the sweep if other gateways may read them.
    func schedule(_ fileIDs: [String], in transaction: Connection) throws {
        guard !fileIDs.isEmpty else { return }
        if let delay {
            return try StoreRecords(transaction).scheduleRemoval(fileIDs, notBefore: clock.now().adding(delay))
        }
        try StoreRecords(transaction).scheduleRemoval(fileIDs)
        transaction.afterCommit { [weak self] in self?.begin(fileIDs) }
    }

    /// Unlinks files that an earlier process scheduled, without waiting for the end.
    func resume() {
        // Files for which this fails are tried again by the sweep.
        worker.post { [self] in _ = try? removeScheduled() }
    }

    /// Runs `body` while no data file is removed, by any gateway: files with rows at its beginning can be read to the end.
    func pausing<T: Sendable>(_ body: () async throws -> T) async throws -> T {
        // After the batch that is being removed.
        await worker.run { [self] in state.withLock { $0.pauses += 1 } }
        defer { state.withLock { $0.pauses -= 1 } }
        guard delay != nil else { return try await body() }
        let pause = RemovalPause(database, clock)
        try await pause.extend()
        let renewal = Task { await pause.renew() }
        let result: Result<T, any Error>
        do {
            result = .success(try await body())
        } catch {
            result = .failure(error)
        }
        renewal.cancel()
        await renewal.value
        // Otherwise it ends by itself.
        try? await pause.end()
        return try result.get()
    }

    /// Removes all scheduled files.
    ///
    /// - Returns: the number of removed files.
    func sweep() async throws -> Int {
        try await worker.runUnderLease { [self] in try removeScheduled() }
    }

    /// Begins no further batch; remaining files are removed after the next start.
    func stop() {
        state.withLock { $0.isStopped = true }
    }

    /// Returns when every removal requested so far was tried.
    func drain() {
        worker.drain()
    }

    private func begin(_ fileIDs: [String]) {
        state.withLock { $0.waiting += fileIDs }
        // The first one takes the files of the others as well.
        worker.post { [self] in
            let waiting = state.withLock { state in
                defer { state.waiting = [] }
                return state.waiting
            }
            // Files for which this fails are still scheduled, and the sweep tries again.
            _ = try? remove(waiting)
        }
    }

    private func removeScheduled() throws -> Int {
        var (last, count) = ("", 0)
        while goesOn {
            let some = try database.readBlocking { [last] in
                try StoreRecords($0).scheduledRemovals(after: last, limit: Self.batch, at: clock.now())
            }
            guard let end = some.last else { break }
            count += try remove(some)
            last = end
        }
        return count
    }

    private var goesOn: Bool { state.withLock { $0.pauses == 0 && !$0.isStopped } }

    /// Whether a gateway has paused the removals. Files that were scheduled before such a look have no row any more when a pause begins
    /// after it, so that nobody reads them.
    private func isPaused() throws -> Bool {
        guard delay != nil else { return false }
        return try database.readBlocking { try StoreRecords($0).isPaused(at: $0.time(clock)) }
    }

    private func remove(_ fileIDs: [String]) throws -> Int {
        var count = 0
        for start in stride(from: 0, to: fileIDs.count, by: Self.batch) {
            guard goesOn, try !isPaused() else { break }
            try Lease.current?.requireBatch()
            let removed = try engine.removeDurably(
                Array(fileIDs[start..<min(start + Self.batch, fileIDs.count)]))
            guard !removed.isEmpty else { continue }
            try database.writeBlocking(mayUseReserve: true) { try StoreRecords($0).removed(removed) }
            count += removed.count
        }
        return count
    }
}

/// A pause of the removals of all gateways, which ends by itself if its gateway does not renew it.
private struct RemovalPause: Sendable {
    private static let duration = Duration.minutes(5)
    private static let renewalInterval = Duration.seconds(30)

    private let database: Database
    private let clock: any WallClock
    private let id = Random.hex(8)

    init(_ database: Database, _ clock: any WallClock) {
        self.database = database
        self.clock = clock
    }

    /// Begins the pause, or extends it.
    func extend() async throws {
        try await database.write(mayUseReserve: true) { [id, clock] connection in
            let end = try connection.time(clock).adding(Self.duration)
            try StoreRecords(connection).pauseRemovals(id, until: end)
        }
    }

    /// Extends the pause until the task is cancelled.
    func renew() async {
        while (try? await Task.sleep(for: Self.renewalInterval)) != nil { try? await extend() }
    }

    func end() async throws {
        try await database.write(mayUseReserve: true) { [id, clock] connection in
            try StoreRecords(connection).endPause(id, at: connection.time(clock))
        }
    }
}
