import Synchronization

/// Wakes one task: the one that waits, or that waits next.
final class Bell: Sendable {
    private struct State {
        var isRung = false
        var waiting: CheckedContinuation<Void, Never>?
    }

    private let state = Mutex(State())

    /// Any number of times before the next wait is once.
    func ring() {
        let waiting = state.withLock { state in
            state.isRung = state.waiting == nil
            defer { state.waiting = nil }
            return state.waiting
        }
        waiting?.resume()
    }

    /// By one task at a time.
    func wait() async {
        await withCheckedContinuation { continuation in
            let isRung = state.withLock { state in
                defer { state.isRung = false }
                if !state.isRung { state.waiting = continuation }
                return state.isRung
            }
            if isRung { continuation.resume() }
        }
    }
}
