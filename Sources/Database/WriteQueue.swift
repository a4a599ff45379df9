import Dispatch
import Synchronization

/// The writes that wait for the writer's thread. Bounded; any thread may add.
final class WriteQueue: Sendable {
    private struct State {
        var waiting: [any PendingWrite] = []
        var refusal: DatabaseError?
    }

    private let state = Mutex(State())
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

    /// Waits for writes and takes all that are there, in the order they came.
    ///
    /// - Returns: `nil` after ``close(refusing:)``, once nothing is left.
    func take() -> [any PendingWrite]? {
        while true {
            let (batch, isClosed) = state.withLock { state in
                let batch = state.waiting
                state.waiting.removeAll(keepingCapacity: true)
                return (batch, state.refusal != nil)
            }
            if !batch.isEmpty { return batch }
            if isClosed { return nil }
            wake.wait()
        }
    }

    /// Refuses every write from now on. The first reason stays.
    func close(refusing reason: DatabaseError) {
        state.withLock { $0.refusal = $0.refusal ?? reason }
        wake.signal()
    }
}
