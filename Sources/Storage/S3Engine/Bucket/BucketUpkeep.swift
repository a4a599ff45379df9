import Basics
import Crypto
import Database
import ObjectStore
import Synchronization

/// The surroundings of the work on a bucket apart from requests.
struct UpkeepContext: Sendable {
    let bucket: SegmentBucket
    let database: Database
    /// `nil` = nobody else uses the bucket.
    let owner: PrefixOwner?
    /// Whether other gateways use the bucket, too.
    let hasReplicas: Bool
    let register: UploadRegister
    let clock: any WallClock
    /// Returns the segments of this process without a row.
    let pending: @Sendable () -> Set<String>

    /// Whether the store confirms now that this process has the prefix.
    func confirm() throws -> Bool {
        guard let owner else { return true }
        return try BlockingCall.run { await owner.confirm() }
    }
}

/// The work of the engine apart from requests: it compares the database with the bucket's record of it, and removes keys without rows.
final class BucketUpkeep: EngineUpkeep {
    private struct Stopped: Error {}

    private struct State {
        var bucket: BucketState
        /// Whether something has changed since the position was recorded.
        var hasChanged = true
        var recordedAt: ContinuousClock.Instant?
        /// Whether a comparison or a sweep was begun and has not ended.
        var isWorking = false
        var isStopped = false
        /// The number of segments that were removed since the last call of ``BucketUpkeep/sweep(_:)``.
        var removed = 0
        var found = StoreReconciliation()
    }

    /// The time between two records of the position, if something has changed.
    static let recordInterval = Duration.seconds(10)
    /// The time between two records without a change.
    private static let idleRecordInterval = Duration.hours(1)

    let storeID: String
    private let context: UpkeepContext
    private let wasClean: Bool
    /// Compares and removes.
    private let worker = Worker.serial("store.bucket")
    /// Records the position.
    private let recorder = Worker.serial("store.identity")
    /// Removes segments that got no row.
    private let abandoning: Worker
    private let merging: SegmentMerging
    private let state: Lock<State>

    /// Compares the database with the bucket's record of it.
    ///
    /// - Parameter abandoning: removes segments that got no row.
    /// - Throws: ``PrefixOfAnotherGateway``.
    init(_ context: UpkeepContext, _ merging: SegmentMerging, _ abandoning: Worker) throws {
        self.context = context
        self.merging = merging
        self.abandoning = abandoning
        let recorded = try context.bucket.identity()
        let known = try context.database.readBlocking { try StoreRecords($0).history() }
        if let recorded, recorded.storeID != known?.storeID {
            throw PrefixOfAnotherGateway(name: context.bucket.configuration.name, storeID: recorded.storeID)
        }
        let own = try Self.withHistory(known, context.database, isFirst: recorded == nil)
        storeID = own.storeID
        let initial = recorded?.compare(own) ?? .comparing
        wasClean = initial == .matching
        state = Lock(State(bucket: initial))
        switch initial {
        case .matching: try writeIdentity(own, isClean: false)
        case .comparing: beginComparison()
        case .diverged: try renewHistory()
        }
    }

    /// Makes the identity and the history of a database that has none.
    ///
    /// - Parameter isFirst: whether the bucket has no record, so that the history begins here.
    private static func withHistory(
        _ known: StoreHistory?, _ database: Database, isFirst: Bool
    ) throws -> StoreHistory {
        if let known, known.id != nil || !isFirst { return known }
        let (storeID, history) = (BucketIdentity.newID(), BucketIdentity.newID())
        let own = try database.writeBlocking(mayUseReserve: true) { connection -> StoreHistory? in
            let records = StoreRecords(connection)
            // Another replica may have made them meanwhile.
            let current = try records.history()
            if let current, current.id != known?.id { return current }
            if current == nil { try records.setIdentity(storeID, generation: 1) }
            try records.setHistory(history)
            return try records.history()
        }
        guard let own else { throw StorageFailure.missing }
        return own
    }

    // MARK: State

    var bucketState: BucketState { state.withLock { $0.bucket } }

    /// Whether removals may be executed.
    var permitsRemovals: Bool { bucketState == .matching }

    var condition: EngineCondition {
        if bucketState.removalsAreOff { return .foreign }
        return wasClean ? .clean : .unclean
    }

    var reconciliation: StoreReconciliation { state.withLock { $0.found } }

    var foldersToReconcile: Int { bucketState == .comparing ? 1 : 0 }

    func finish() async { await worker.run {} }

    func stop() {
        merging.stop()
        state.withLock { $0.isStopped = true }
    }

    func drain() {
        merging.drain()
        worker.drain()
        recorder.drain()
        abandoning.drain()
    }

    // MARK: Position

    /// Notes that the bucket has to be told of a change, which is on disk.
    func noteChange() { state.withLock { $0.hasChanged = true } }

    /// Records the position of the database in the bucket if that is due: a database that lacks what was recorded shows by its position.
    func record() async throws {
        try await recorder.run { [self] in
            let isDue = state.withLock { state in
                state.hasChanged || state.recordedAt.map { .now - $0 >= Self.idleRecordInterval } ?? true
            }
            if isDue { try recordPosition(isClean: false) }
        }
    }

    func recordCleanStop() {
        // If it fails, the next start compares. Other replicas still write.
        try? recordPosition(isClean: !context.hasReplicas)
    }

    private func recordPosition(isClean: Bool) throws {
        let mayRecord = state.withLock { state in
            guard state.bucket == .matching else { return false }
            // Before the commit, so that a change that comes in between is recorded again.
            state.hasChanged = false
            return true
        }
        guard mayRecord else { return }
        do {
            let own = try context.database.writeBlocking(mayUseReserve: true) { connection in
                try StoreRecords(connection).advancePosition()
                return try StoreRecords(connection).history()
            }
            guard let own else { throw StorageFailure.missing }
            try writeIdentity(own, isClean: isClean)
            state.withLock { $0.recordedAt = .now }
        } catch {
            noteChange()
            throw error
        }
    }

    private func writeIdentity(_ own: StoreHistory, isClean: Bool) throws {
        guard try context.confirm() else {
            throw StorageFailure.engine("the gateway may have lost the prefix of its bucket")
        }
        try context.bucket.write(
            BucketIdentity(
                storeID: own.storeID, history: own.id ?? "", position: own.position, at: context.clock.now(),
                isClean: isClean))
    }

    /// Gives the database another history than the bucket's, so that later starts recognize it whatever its position is then.
    private func renewHistory() throws {
        let history = BucketIdentity.newID()
        try context.database.writeBlocking(mayUseReserve: true) { try StoreRecords($0).setHistory(history) }
    }

    // MARK: Comparison

    private func begin() -> Bool {
        state.withLock { state in
            guard !state.isWorking, !state.isStopped else { return false }
            state.isWorking = true
            return true
        }
    }

    private func end() { state.withLock { $0.isWorking = false } }

    private func goOn() throws(Stopped) {
        guard !state.withLock({ $0.isStopped }) else { throw Stopped() }
    }

    private func beginComparison() {
        guard begin() else { return }
        worker.post { [self] in
            defer { end() }
            attempt { try compare() }
        }
    }

    private func attempt(_ work: () throws -> Void) {
        do {
            try work()
        } catch is Stopped {
            // The next start begins again.
        } catch {
            state.withLock { $0.found.failed(context.bucket.configuration.name, error) }
        }
    }

    /// Finds completed uploads that the database lacks, and decides whether removals may be executed.
    private func compare() throws {
        var count = 0
        let facts = FactsComparison(bucket: context.bucket, register: context.register)
        try facts.forEachLacking(goOn, { try context.database.readBlocking($0) }) { count += $0.count }
        guard count > 0 else {
            // Only an operator ends a divergence.
            let begins = state.withLock { state in
                defer { if state.bucket == .comparing { state.bucket = .matching } }
                return state.bucket == .comparing
            }
            if begins { merging.resume() }
            return
        }
        try renewHistory()
        state.withLock { $0.bucket = .diverged(.lacksUploads(count: count)) }
    }

    // MARK: Sweep

    func sweep(_ isOrphan: @escaping @Sendable (_ writtenAt: UnixTime) throws -> Bool) -> Int {
        switch bucketState {
        case .matching: beginSweep(isOrphan)
        case .comparing: beginComparison()
        case .diverged: break
        }
        return state.withLock { state in
            defer { state.removed = 0 }
            return state.removed
        }
    }

    private func beginSweep(_ isOrphan: @escaping @Sendable (_ writtenAt: UnixTime) throws -> Bool) {
        guard begin() else { return }
        worker.post { [self] in
            defer { end() }
            attempt {
                guard try isSweepDue() else { return }
                // Another gateway may be at it.
                _ = try context.database.leases.holdingBlocking("bucket sweep") {
                    if try isSweepDue() { _ = try sweepNow(isOrphan) }
                }
            }
        }
    }

    private func isSweepDue() throws -> Bool {
        let last = try context.database.readBlocking { try StoreRecords($0).history()?.sweptAt }
        guard let last else { return true }
        let now = context.clock.now()
        return now < last || now.duration(since: last) >= context.bucket.configuration.sweepInterval
    }

    /// Removes keys of uploads that have ended, and puts those into quarantine that may be the bytes of objects.
    func sweepNow(_ isOrphan: (_ writtenAt: UnixTime) throws -> Bool) throws -> KeySweep.Result {
        guard !bucketState.removalsAreOff else { return KeySweep.Result() }
        // What the database lacks now is missing among its rows below, too.
        try compare()
        guard permitsRemovals else { return KeySweep.Result() }
        let result = try keySweep.run(isOrphan: isOrphan, goOn: goOn)
        state.withLock { state in
            state.removed += result.removed
            state.found.removed += result.removed
            state.found.quarantined += result.quarantined
        }
        try context.database.writeBlocking(mayUseReserve: true) { [now = context.clock.now()] in
            try StoreRecords($0).setSwept(at: now)
        }
        return result
    }

    var keySweep: KeySweep {
        KeySweep(
            bucket: context.bucket, database: context.database,
            judge: SegmentJudge(storeID: storeID, register: context.register), clock: context.clock,
            pending: context.pending, confirm: context.confirm)
    }
}
