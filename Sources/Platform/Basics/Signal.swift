/// Wakes those who wait for something to do.
package final class Signal: Sendable {
    private struct State {
        var count = 0
        var waiting: [Int: CheckedContinuation<Void, Never>] = [:]
        var nextID = 0
    }

    private let state = Lock(State())

    package init() {}

    /// How often it notified: to be asked before looking whether there is something to do.
    package var count: Int { state.withLock { $0.count } }

    package func notify() {
        let waiting = state.withLock { state in
            state.count += 1
            defer { state.waiting = [:] }
            return state.waiting
        }
        for continuation in waiting.values { continuation.resume() }
    }

    /// Returns when it notifies, at once where it did so after `count` was asked, or when the task is cancelled.
    ///
    /// - Parameter limit: after which it returns in any case; `nil` = never. Nobody else is woken then.
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
