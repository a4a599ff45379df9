import Basics

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
    }

    private let state = Lock(State())
    private let path: String
    private let capacity: Int

    /// - Parameter capacity: the number of unused connections that are kept open.
    init(path: String, capacity: Int) {
        self.path = path
        self.capacity = capacity
    }

    func withConnection<T>(_ body: (ReadConnection) throws -> T) throws -> T {
        let reader = try take()
        defer { park(reader) }
        return try body(reader.connection)
    }

    func close() {
        let closing = state.withLock { state in
            state.isClosed = true
            defer { state.parked = [] }
            return state.parked
        }
        withExtendedLifetime(closing) {}
    }

    private func take() throws -> Parked {
        let parked = try state.withLock { state throws(DatabaseError) in
            if state.isClosed { throw .closed }
            return state.parked.popLast()
        }
        if let parked { return parked }
        return Parked(connection: try ReadConnection(path: path, mode: .reader))
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
