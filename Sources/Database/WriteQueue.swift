import Dispatch
import Platform

/// The writes that wait for the writer's thread, and the copies that somebody wants. Bounded; any thread may add.
final class WriteQueue: Sendable {
    /// What the writer's thread does next.
    struct Turn {
        var writes: [any PendingWrite] = []
        /// To be begun.
        var copies: [DatabaseCopy] = []
    }

    /// How long the thread waits where nothing is there.
    enum Patience {
        case untilWork
        /// Some milliseconds: other work is blocked, and is tried again then.
        case brief
        /// Not at all: there is other work to go on with.
        case none
    }

    private struct State {
        var waiting: [any PendingWrite] = []
        var copies: [DatabaseCopy] = []
        var refusal: DatabaseError?
    }

    private let state = Lock(State())
    /// Signalled when the first write comes, or the end.
    private let wake = DispatchSemaphore(value: 0)
    private let capacity: Int

    init(capacity: Int) {
        self.capacity = capacity
    }

    /// How many writes wait now.
    var count: Int {
        state.withLock { $0.waiting.count }
    }

    /// Why no write is taken any more; `nil` while they are.
    var refusal: DatabaseError? {
        state.withLock { $0.refusal }
    }

    func add(_ write: some PendingWrite) throws(DatabaseError) {
        let isFirst = try state.withLock { state throws(DatabaseError) in
            if let refusal = state.refusal { throw refusal }
            guard state.waiting.count < capacity else { throw .overloaded }
            state.waiting.append(write)
            return state.waiting.count == 1
        }
        if isFirst { wake.signal() }
    }

    func add(_ copy: DatabaseCopy) throws(DatabaseError) {
        try state.withLock { state throws(DatabaseError) in
            if let refusal = state.refusal { throw refusal }
            state.copies.append(copy)
        }
        wake.signal()
    }

    /// Waits for work and takes all that is there, in the order it came.
    ///
    /// - Parameter patience: how long it waits; unless that is ``Patience/untilWork``, it may get nothing.
    /// - Returns: `nil` after ``close(refusing:)``, once nothing is left.
    func take(_ patience: Patience = .untilWork) -> Turn? {
        var patience = patience
        while true {
            let (turn, isClosed) = state.withLock { state in
                let turn = Turn(writes: state.waiting, copies: state.copies)
                state.waiting.removeAll(keepingCapacity: true)
                state.copies.removeAll()
                return (turn, state.refusal != nil)
            }
            if !turn.writes.isEmpty || !turn.copies.isEmpty { return turn }
            if isClosed { return nil }
            switch patience {
            case .none: return turn
            case .brief:
                _ = wake.wait(timeout: .now() + .milliseconds(10))
                patience = .none
            case .untilWork: wake.wait()
            }
        }
    }

    /// Refuses every write from now on. The first reason stays.
    func close(refusing reason: DatabaseError) {
        state.withLock { $0.refusal = $0.refusal ?? reason }
        wake.signal()
    }
}
