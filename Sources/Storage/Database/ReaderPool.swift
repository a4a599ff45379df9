import Basics
import Synchronization

/// The unused read-only connections.
///
/// A read takes the one that was returned last, whose pages and statements are cached, and opens another if all are in use: no read
/// waits for another read.
final class ReaderPool: Sendable {
    /// `@unchecked Sendable`: only the pool refers to a parked connection, and one thread at a time gets it.
    private struct Parked: @unchecked Sendable {  // a parked connection is the pool's alone
        let connection: ReadConnection
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
    private let open: @Sendable () throws(DatabaseError) -> sending ReadConnection

    /// - Parameters:
    ///   - capacity: the number of unused connections that are kept open.
    ///   - open: opens another one.
    init(capacity: Int, open: @escaping @Sendable () throws(DatabaseError) -> sending ReadConnection) {
        self.capacity = capacity
        self.open = open
    }

    /// Creates a pool of connections to a SQLite file.
    convenience init(path: String, capacity: Int) {
        self.init(capacity: capacity) { () throws(DatabaseError) in
            ReadConnection(try SQLiteSession(path: path, mode: .reader))
        }
    }

    func withConnection<T>(_ body: (ReadConnection) throws -> T) throws -> T {
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
