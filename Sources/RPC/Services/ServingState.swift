import Basics
import Synchronization

/// Whether the server accepts calls; one object for all its listeners. Watchers receive each change.
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

    /// Ends the acceptance of new calls: from then on health responds with NOT_SERVING.
    package func stopServing() {
        let watchers = state.withLock { state in
            state.isServing = false
            return Array(state.watchers.values)
        }
        for watcher in watchers { watcher.yield(false) }
    }

    /// Ends serving finally, after the effect of `stopServing`: each watch ends, because it would delay the end of the server.
    package func end() {
        stopServing()
        let watchers = state.withLock { state in
            state.isEnded = true
            return Array(state.watchers.values)
        }
        for watcher in watchers { watcher.finish() }
    }

    /// Returns the current state, and then each change; a slow watcher receives only the latest.
    package func changes() -> AsyncStream<Bool> {
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
