import Synchronization

/// Wakes tasks that wait for work.
package final class Signal: Sendable {
    private struct State {
        var count = 0
        var waiting: [Int: CheckedContinuation<Void, Never>] = [:]
        var nextID = 0
    }

    private let state = Lock(State())

    package init() {}

    /// The number of notifications so far. Read before checking for work and passed to ``wait(after:atMost:)``.
    package var count: Int { state.withLock { $0.count } }

    package func notify() {
        let waiting = state.withLock { state in
            state.count += 1
            defer { state.waiting = [:] }
            return state.waiting
        }
        for continuation in waiting.values { continuation.resume() }
    }

    /// Waits for a notification, and returns at once if there was one after `count` was read, or if the task is cancelled.
    ///
    /// - Parameter limit: the longest wait, which wakes no other task; `nil` = no limit.
    package func wait(after count: Int, atMost limit: Duration? = nil) async {
        guard let limit else { return await waitForNotification(after: count) }
        await withTaskGroup(of: Void.self) { group in
            group.addTask { await self.waitForNotification(after: count) }
            group.addTask { try? await Task.sleep(for: limit) }
            await group.next()
            group.cancelAll()
        }
    }

    private func waitForNotification(after count: Int) async {
        let id = state.withLock { state in
            state.nextID += 1
            return state.nextID
        }
        await withTaskCancellationHandler {
            await withCheckedContinuation { continuation in
                let isOver = state.withLock { state in
                    if state.count != count || Task.isCancelled { return true }
                    state.waiting[id] = continuation
                    return false
                }
                if isOver { continuation.resume() }
            }
        } onCancel: {
            state.withLock { $0.waiting.removeValue(forKey: id) }?.resume()
        }
    }
}
