import Basics

/// The read-only connections that nobody uses right now.
///
/// A read takes the one that came back last, whose pages and statements are warm, and opens another when there is none:
/// no read ever waits for a read.
final class ReaderPool: Sendable {
    /// `@unchecked Sendable`: a parked connection is the pool's alone, and is handed to one thread at a time.
    private struct Parked: @unchecked Sendable {  // a parked connection is the pool's alone
        let connection: Connection
    }

    private struct State {
        var parked: [Parked] = []
        var isClosed = false
    }

    private let state = Lock(State())
    private let path: String
    private let capacity: Int

    /// - Parameter capacity: how many unused connections are kept open.
    init(path: String, capacity: Int) {
        self.path = path
        self.capacity = capacity
    }

    func withConnection<T>(_ body: (Connection) throws -> T) throws -> T {
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
        return Parked(connection: try Connection(path: path, mode: .reader))
    }

    /// A connection whose transaction could not be ended is closed: it would hold its snapshot, and the log, for ever.
    private func park(_ reader: Parked) {
        guard !reader.connection.isInTransaction else { return }
        state.withLock { state in
            if !state.isClosed && state.parked.count < capacity { state.parked.append(reader) }
        }
    }
}
