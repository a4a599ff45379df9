import Basics

/// Whether the server takes calls; one for all its listeners. Those who watch hear of each change.
package final class ServingState: Sendable {
    private struct State {
        var isServing = true
        var isEnded = false
        var watchers: [Int: AsyncStream<Bool>.Continuation] = [:]
        var nextWatcher = 0
    }

    private let state = Lock(State())

    package init() {}

    package var isServing: Bool { state.withLock { $0.isServing } }

    /// Says that no new call should come: from then on health answers NOT_SERVING.
    package func stopServing() {
        let watchers = state.withLock { state in
            state.isServing = false
            return Array(state.watchers.values)
        }
        for watcher in watchers { watcher.yield(false) }
    }

    /// Ends serving for good, after what `stopServing` does: watchers are told, and each watch ends, for it would hold
    /// up the end of the server.
    package func end() {
        stopServing()
        let watchers = state.withLock { state in
            state.isEnded = true
            return Array(state.watchers.values)
        }
        for watcher in watchers { watcher.finish() }
    }

    /// The state now, and then each change; a slow watcher gets the newest only.
    func changes() -> AsyncStream<Bool> {
        let (stream, continuation) = AsyncStream<Bool>.makeStream(bufferingPolicy: .bufferingNewest(1))
        let number = state.withLock { state in
            let number = state.nextWatcher
            state.nextWatcher += 1
            state.watchers[number] = continuation
            continuation.yield(state.isServing)
            if state.isEnded { continuation.finish() }
            return number
        }
        continuation.onTermination = { [weak self] _ in
            _ = self?.state.withLock { $0.watchers.removeValue(forKey: number) }
        }
        return stream
    }
}
