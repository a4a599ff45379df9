/// The event loop of a connection, as far as its calls need it.
///
/// All work for a connection happens on its loop: receiving, its handlers (by executor preference), and sending. So its state needs
/// no lock. Types whose state belongs to a loop check this where others call them.
package protocol CallLoop: AnyObject, Sendable {
    /// Runs tasks that belong to no connection on the loop's thread.
    var executor: any TaskExecutor { get }

    /// The turns of its connections' work.
    var turns: CallTurns { get }

    /// The time of the monotonic clock, in nanoseconds.
    var now: UInt64 { get }

    /// Whether the caller runs on the loop's thread.
    var isCurrent: Bool { get }

    /// Ends the process if the caller does not run on the loop's thread, since a data race on the state of the loop or of its calls
    /// would go unnoticed until it causes damage.
    func preconditionCurrent()

    /// Passes a job from another thread to the lane, which gets it on the loop.
    func post(_ job: UnownedJob, to lane: Lane)

    /// Called on the loop when a lane has got work, which `turns` runs later.
    func workArrived()

    /// Calls `action` once, on the loop, at or soon after `time` (on the clock of `now`). Must be called on the loop.
    func schedule(at time: UInt64, _ action: @escaping () -> Void) -> LoopTimer
}

extension CallLoop {
    /// Like ``preconditionCurrent()``, but only in builds for debugging: for what each call does many times.
    @inline(__always)
    package func assertCurrent() {
        assert(
            {
                preconditionCurrent()
                return true
            }())
    }
}

/// An action scheduled on a loop; `cancel` removes it.
package final class LoopTimer {
    package let time: UInt64
    private var action: (() -> Void)?

    package init(time: UInt64, action: @escaping () -> Void) {
        self.time = time
        self.action = action
    }

    package var isCancelled: Bool { action == nil }

    package func cancel() { action = nil }

    /// Performs the action, unless it was cancelled or performed before.
    package func fire() {
        let due = action
        action = nil
        due?()
    }
}
