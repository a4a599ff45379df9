import Basics
import Dispatch
import Synchronization

/// The unused read-only connections.
///
/// A read takes the one that was returned last, whose pages and statements are cached, and opens another if all are in use. With
/// SQLite no read waits for another read; a server has a limited number of connections.
final class ReaderPool: Sendable {
    /// `@unchecked Sendable`: only the pool refers to a parked connection, and one thread at a time gets it.
    private struct Parked: @unchecked Sendable {  // a parked connection is the pool's alone
        let connection: ReadConnection
    }

    /// The number of reads at once, and how long a further one waits.
    struct Limit: Sendable {
        private let free = DispatchSemaphore(value: 0)
        private let wait: Duration
        private let activity: ServerActivity

        init(connections: Int, wait: Duration, _ activity: ServerActivity) {
            self.wait = wait
            self.activity = activity
            for _ in 0..<connections { free.signal() }
        }

        fileprivate func enter() throws(DatabaseError) {
            let begin = ContinuousClock.now
            let result = free.wait(timeout: .now() + .nanoseconds(Int(wait.nanoseconds)))
            activity.note(\.connectionWait, .now - begin)
            guard result == .success else { throw .overloaded }
        }

        fileprivate func leave() { free.signal() }
    }

    private struct State {
        var parked: [Parked] = []
        var isClosed = false
        /// The number of calls of ``markRunningReads()``.
        var mark = 0
        /// The running reads that began after the latest mark, and those that began before it.
        var (later, earlier) = (0, 0)

        mutating func end(_ mark: Int) {
            if mark == self.mark { later -= 1 } else { earlier -= 1 }
        }
    }

    private let state = Lock(State())
    private let capacity: Int
    private let limit: Limit?
    private let open: @Sendable () throws(DatabaseError) -> sending ReadConnection

    /// - Parameters:
    ///   - capacity: the number of unused connections that are kept open.
    ///   - limit: the limit of connections in use; `nil` = none.
    ///   - open: opens another one.
    init(
        capacity: Int, limit: Limit? = nil,
        open: @escaping @Sendable () throws(DatabaseError) -> sending ReadConnection
    ) {
        self.capacity = capacity
        self.limit = limit
        self.open = open
    }

    /// Creates a pool of connections to a SQLite file.
    convenience init(path: String, capacity: Int) {
        self.init(capacity: capacity) { () throws(DatabaseError) in
            ReadConnection(try SQLiteSession(path: path, mode: .reader))
        }
    }

    func withConnection<T>(_ body: (ReadConnection) throws -> T) throws -> T {
        try limit?.enter()
        defer { limit?.leave() }
        let (parked, mark) = try begin()
        defer { state.withLock { $0.end(mark) } }
        let reader = try parked ?? Parked(connection: open())
        defer { park(reader) }
        return try body(reader.connection)
    }

    /// Marks the reads that run now.
    func markRunningReads() {
        state.withLock { state in
            state.mark += 1
            state.earlier += state.later
            state.later = 0
        }
    }

    /// Whether a read still runs that ran at the latest ``markRunningReads()``.
    var hasMarkedReads: Bool { state.withLock { $0.earlier > 0 } }

    func close() {
        let closing = state.withLock { state in
            state.isClosed = true
            defer { state.parked = [] }
            return state.parked
        }
        withExtendedLifetime(closing) {}
    }

    private func begin() throws(DatabaseError) -> (parked: Parked?, mark: Int) {
        try state.withLock { state throws(DatabaseError) in
            if state.isClosed { throw .closed }
            state.later += 1
            return (state.parked.popLast(), state.mark)
        }
    }

    /// Parks a connection. One whose transaction could not be ended is closed, because it would keep its snapshot, and the log,
    /// forever.
    private func park(_ reader: Parked) {
        guard !reader.connection.isInTransaction else { return }
        state.withLock { state in
            if !state.isClosed && state.parked.count < capacity { state.parked.append(reader) }
        }
    }
}
