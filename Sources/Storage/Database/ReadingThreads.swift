import Basics
import Dispatch
import Synchronization

/// Threads for reads that may take longer than a millisecond, or that wait for a server. Owners take turns: the next read is that of the organization whose reads took the least time, and of its owner for whom they took the least.
final class ReadingThreads: Sendable {
    /// The niceness of threads for long reads; see ``ThreadPriority``.
    private static let niceness: Int32 = 10

    /// A read, and how it ends if it is refused.
    struct Read: Sendable {
        let run: @Sendable () -> Void
        let refuse: @Sendable () -> Void

        /// - Parameter end: called once, with the result, or with ``DatabaseError/closed``.
        init<T: Sendable>(
            _ body: @escaping @Sendable () throws -> T, end: @escaping @Sendable (Result<T, any Error>) -> Void
        ) {
            run = { end(Result(catching: body)) }
            refuse = { end(.failure(DatabaseError.closed)) }
        }

        /// A part of a task, which runs in any case: what it reads then is refused by the closed database.
        init(job: @escaping @Sendable () -> Void) {
            run = job
            refuse = job
        }
    }

    /// The reads that wait for one owner, in the order of their arrival.
    private final class Waiting {
        let node: TurnNode
        var reads = FIFOQueue<Read>()

        init(_ node: TurnNode) {
            self.node = node
        }
    }

    /// `@unchecked Sendable`: reached under the lock only.
    private struct State: @unchecked Sendable {  // under the lock
        let tree = TurnTree()
        /// The owners who have reads.
        var waiting: [WorkOwner?: Waiting] = [:]
        /// Whether an owner may have only one read that waits.
        var isStopping = false
        var isClosed = false

        func accepts(_ owner: WorkOwner?) -> Bool {
            !isClosed && !(isStopping && owner != nil && waiting[owner] != nil)
        }
    }

    /// A read with the party that it is charged to.
    private struct Turn: @unchecked Sendable {  // the node is used under the lock
        let read: Read
        let node: TurnNode
    }

    private let state = Lock(State())
    /// Signaled for each read, and for each thread at the end.
    private let wake = DispatchSemaphore(value: 0)
    private let count: Int
    private let now: @Sendable () -> UInt64

    /// - Parameters:
    ///   - name: the threads' name.
    ///   - count: the number of threads, and so of reads at once; 0 = none, for tests that call ``runNext()``.
    ///   - isLow: whether the threads have a lower priority than the event loops.
    init(
        name: String, count: Int, isLow: Bool = true,
        now: @escaping @Sendable () -> UInt64 = { DispatchTime.now().uptimeNanoseconds }
    ) {
        self.count = count
        self.now = now
        for _ in 0..<count {
            Worker.thread(name).post { [self] in
                if isLow { ThreadPriority.lower(to: Self.niceness) }
                while runNext() {}
            }
        }
    }

    /// Runs `body` on one of the threads in the turn of the task's owner.
    ///
    /// - Throws: also ``DatabaseError/closed`` if the read is refused.
    func run<T: Sendable>(_ body: @escaping @Sendable () throws -> T) async throws -> T {
        let owner = WorkOwner.current
        return try await withCheckedThrowingContinuation { continuation in
            add(Read(body) { continuation.resume(with: $0) }, for: owner)
        }
    }

    /// The same as ``run(_:)`` for a thread that may block.
    func runBlocking<T: Sendable>(for owner: WorkOwner?, _ body: @escaping @Sendable () throws -> T) throws -> T {
        let reply = Lock<Result<T, any Error>?>(nil)
        let answered = DispatchSemaphore(value: 0)
        let read = Read(body) { result in
            reply.withLock { $0 = result }
            answered.signal()
        }
        add(read, for: owner)
        answered.wait()
        guard let result = reply.withLock({ $0 }) else { throw DatabaseError.closed }
        return try result.get()
    }

    /// Lets the read wait for its owner's turn, or refuses it.
    func add(_ read: Read, for owner: WorkOwner?) {
        let isAdded = state.withLock { state in
            guard state.accepts(owner) else { return false }
            let waiting = state.waiting[owner] ?? Waiting(state.tree.node(for: owner))
            state.waiting[owner] = waiting
            waiting.reads.append(read)
            if !waiting.node.isActive { waiting.node.activate(waiting) }
            return true
        }
        if isAdded { wake.signal() } else { read.refuse() }
    }

    /// Waits for a read and runs it.
    ///
    /// - Returns: `false` at the end.
    func runNext() -> Bool {
        wake.wait()
        // None is left if it was refused meanwhile.
        guard let turn = takeNext() else { return !state.withLock(\.isClosed) }
        let start = now()
        turn.read.run()
        let time = now() &- start
        state.withLock { _ in turn.node.charge(time) }
        return true
    }

    private func takeNext() -> Turn? {
        state.withLock { state in
            guard let next = state.tree.next as? Waiting, let read = next.reads.popFirst() else { return nil }
            if next.reads.isEmpty {
                next.node.deactivate()
                state.waiting = state.waiting.filter { $0.value !== next }
            }
            return Turn(read: read, node: next.node)
        }
    }

    /// Refuses the reads of owners that wait for their turn, and from now on all but one of each owner: at the gateway's end nobody
    /// waits for what others asked for.
    func stop() {
        let refused = state.withLock { state in
            state.isStopping = true
            var refused: [Read] = []
            for (owner, waiting) in state.waiting where owner != nil {
                while let read = waiting.reads.popFirst() { refused.append(read) }
                waiting.node.deactivate()
                state.waiting[owner] = nil
            }
            return refused
        }
        for read in refused { read.refuse() }
    }

    /// Refuses new reads; the threads end after those that wait.
    func close() {
        let wasClosed = state.withLock { state in
            defer { state.isClosed = true }
            return state.isClosed
        }
        guard !wasClosed else { return }
        for _ in 0..<count { wake.signal() }
    }
}

/// Runs tasks of an owner on the threads for reads.
final class ReadExecutor: TaskExecutor {
    private let threads: ReadingThreads
    private let owner: WorkOwner?

    init(_ threads: ReadingThreads, for owner: WorkOwner?) {
        self.threads = threads
        self.owner = owner
    }

    func enqueue(_ job: consuming ExecutorJob) {
        let job = UnownedJob(job)
        threads.add(.init(job: { job.runSynchronously(on: self.asUnownedTaskExecutor()) }), for: owner)
    }
}

/// A thread for reads that may take seconds, one at a time. Others wait neither on their event loop nor in
/// ``Database/readInBackground(_:)``, which serves the lists of all users.
package final class BackgroundReads: Sendable {
    private let database: Database
    private let threads: ReadingThreads

    /// - Parameter purpose: a word for the thread's name.
    package init(of database: Database, for purpose: String) {
        self.database = database
        threads = ReadingThreads(name: "reads-\(purpose)", count: 1)
    }

    deinit {
        threads.close()
    }

    package func run<T: Sendable>(_ body: @escaping @Sendable (ReadConnection) throws -> T) async throws -> T {
        try await threads.run { [database] in try database.readBlocking(body) }
    }
}
