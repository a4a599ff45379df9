/// The event loop that a connection lives on, as far as its calls need it.
///
/// Everything of a connection happens on its loop: what arrives, its handlers (which run there by executor preference),
/// what is sent. So its state needs no lock.
package protocol CallLoop: AnyObject, Sendable {
    /// Runs the handlers' tasks on the loop's thread.
    var executor: any TaskExecutor { get }

    /// What the handlers of its connections' calls run in.
    var handlerTasks: HandlerTasks { get }

    /// Nanoseconds of the monotonic clock, as of the loop's last wake-up.
    var now: UInt64 { get }

    /// Calls `action` once, on the loop, at or soon after `time` (as `now` counts). To be called on the loop.
    func schedule(at time: UInt64, _ action: @escaping () -> Void) -> LoopTimer
}

/// An action that a loop will take; `cancel` forgets it.
package final class LoopTimer {
    package let time: UInt64
    private var action: (() -> Void)?

    package init(time: UInt64, action: @escaping () -> Void) {
        self.time = time
        self.action = action
    }

    package var isCancelled: Bool { action == nil }

    package func cancel() { action = nil }

    /// Takes the action, unless it was cancelled or taken before.
    package func fire() {
        let due = action
        action = nil
        due?()
    }
}
