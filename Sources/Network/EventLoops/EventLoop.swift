import Basics
import CUV
import Dispatch
import Glibc
package import RPC
import Synchronization

/// One thread with a libuv loop, for the sockets that belong to it and the handlers of their calls.
///
/// It runs the handlers' jobs between its callbacks, so that a call without waits needs no switch to another thread. Between two
/// polls of its sockets it works for at most ``CallTurns/budget``: first the jobs of its connections' lanes in turns, which
/// ``CallTurns`` decides, then what the sockets have received. As a `TaskExecutor` it runs tasks that belong to no connection.
///
/// Sendable although it is mutable: everything but `inbox` is used on its own thread only, which ``preconditionCurrent()`` checks.
package final class EventLoop: CallLoop, TaskExecutor, @unchecked Sendable {  // state belongs to its thread; checked
    private enum Work {
        /// `nil` = the loop itself is the executor of the job's task.
        case job(UnownedJob, Lane?)
        case action(@Sendable () -> Void)
    }

    /// The times of reading from sockets, on the loop's clock.
    private struct Receiving {
        /// The time at which a buffer was last asked for.
        var start: UInt64 = 0
        /// The end of the time for receiving after the present poll; `nil` = nothing was received yet.
        var end: UInt64?
    }

    private struct OwnThread {
        /// Set before other code can read it.
        var id: pthread_t?
        let stopped = DispatchSemaphore(value: 0)
    }

    private let handles = LoopHandles()
    let buffers = LoopBuffers()

    /// Whether lanes have got work, or connections output, since the last turn.
    private var needsTurn = false
    /// Work from other threads; `nil` after the loop has ended.
    private let inbox = Lock<[Work]?>([])
    /// Whether something arrived in `inbox` since it was last emptied.
    private var hasMail = false
    private nonisolated(unsafe) var thread = OwnThread()  // written once, before `init` returns
    /// Set until the loop ends.
    private var lanes: CallTurns?
    private var actions = FIFOQueue<@Sendable () -> Void>()
    private var receiving = Receiving()
    private var unflushed: [SocketConnection] = []
    private var timers = TimerHeap()
    private let clock: @Sendable () -> UInt64

    /// - Parameter clock: the monotonic clock, in nanoseconds.
    package init(name: String, clock: @escaping @Sendable () -> UInt64 = { uv_hrtime() }) {
        self.clock = clock
        precondition(uv_loop_init(uv) == 0, "the system has no memory for an event loop")
        let context = Unmanaged.passUnretained(self).toOpaque()
        uv.pointee.data = context
        uv_async_init(uv, handles.wakeUp) { EventLoop.of($0?.pointee.loop).hasMail = true }
        uv_prepare_init(uv, handles.beforePoll)
        uv_prepare_start(handles.beforePoll) { EventLoop.of($0?.pointee.loop).turnIfNeeded() }
        uv_check_init(uv, handles.afterPoll)
        uv_check_start(handles.afterPoll) { EventLoop.of($0?.pointee.loop).turn() }
        uv_timer_init(uv, handles.timer)
        uv_idle_init(uv, handles.whileBusy)
        lanes = CallTurns(of: self)
        start(name)
    }

    deinit {
        buffers.deallocate()
        handles.deallocate()
    }

    var uv: UnsafeMutablePointer<uv_loop_t> { handles.loop }

    /// The time at which ``bufferToRead`` was last asked for.
    var readStart: UInt64 { receiving.start }

    private func start(_ name: String) {
        let started = DispatchSemaphore(value: 0)
        Worker.thread(name, stackSize: 1 << 20).post {
            self.thread.id = pthread_self()
            started.signal()
            uv_run(self.uv, UV_RUN_DEFAULT)
            uv_loop_close(self.uv)
            self.thread.stopped.signal()
        }
        started.wait()
    }

    static func of(_ uv: UnsafeMutablePointer<uv_loop_t>?) -> EventLoop {
        guard let context = uv?.pointee.data else { preconditionFailure("a handle without its loop") }
        return Unmanaged<EventLoop>.fromOpaque(context).takeUnretainedValue()
    }

    // MARK: CallLoop

    package var executor: any TaskExecutor { self }

    package var turns: CallTurns {
        guard let lanes else { preconditionFailure("an event loop that has ended has no turns") }
        return lanes
    }

    package var now: UInt64 { clock() }

    /// Whether the caller runs on this loop's thread.
    package var isCurrent: Bool {
        guard let id = thread.id else { return false }
        return pthread_equal(id, pthread_self()) != 0
    }

    package func preconditionCurrent() {
        precondition(isCurrent, "this belongs to an event loop, and another thread touches it")
    }

    package func schedule(at time: UInt64, _ action: @escaping () -> Void) -> LoopTimer {
        preconditionCurrent()
        let entry = LoopTimer(time: time, action: action)
        if timers.insert(entry) { armTimer() }
        return entry
    }

    func schedule(after delay: Duration, _ action: @escaping () -> Void) -> LoopTimer {
        schedule(at: now + delay.loopTime, action)
    }

    /// - Parameter least: the least delay in milliseconds.
    private func armTimer(least: UInt64 = 0) {
        guard let next = timers.earliest else { return }
        let current = now
        let delay = next.time > current ? (next.time - current) / 1_000_000 + 1 : least
        uv_timer_start(
            handles.timer, { handle in EventLoop.of(handle?.pointee.loop).fireTimers() }, delay, 0)
    }

    private func fireTimers() {
        let end = now + CallTurns.budget
        // Thousands of calls may have the same deadline.
        while now < end, let due = timers.removeDue(now) { due.fire() }
        // libuv would fire a timer without a delay again before it does anything else.
        armTimer(least: 1)
    }

    // MARK: Work

    package func enqueue(_ job: consuming ExecutorJob) {
        let job = UnownedJob(job)
        if isCurrent { lanes?.gateway.add(job, of: asUnownedTaskExecutor()) } else { post(.job(job, nil)) }
    }

    package func post(_ job: UnownedJob, to lane: Lane) { post(.job(job, lane)) }

    package func workArrived() { needsTurn = true }

    /// Runs `action` on the loop soon, or never if the loop was stopped.
    package func run(_ action: @escaping @Sendable () -> Void) { post(.action(action)) }

    /// Returns when the loop has run an action; does not return while something blocks the loop.
    package func probe() async {
        await withCheckedContinuation { continuation in
            run { continuation.resume() }
        }
    }

    /// Posts work to the loop. Work that arrives after the end is dropped: a handler that outlived its connection may still be
    /// resumed then.
    private func post(_ work: Work) {
        inbox.withLock { inbox in
            guard inbox != nil else { return }
            inbox?.append(work)
            // Under the lock, so that `wakeUp` is not closed meanwhile, in which case libuv would abort the process.
            if inbox?.count == 1 { uv_async_send(handles.wakeUp) }
        }
    }

    /// Schedules the sending of the connection's output for the end of this turn.
    func flushLater(_ connection: SocketConnection) {
        preconditionCurrent()
        unflushed.append(connection)
        needsTurn = true
    }

    /// The buffer for the next read from a socket; `nil` if the time for receiving is over.
    var bufferToRead: UnsafeMutableRawBufferPointer? {
        receiving.start = now
        if let end = receiving.end { return receiving.start < end ? buffers.read : nil }
        receiving.end = receiving.start + CallTurns.budget
        lanes?.begin(until: receiving.start + CallTurns.budget)
        return buffers.read
    }

    /// Works until the budget is used up or nothing is left that needs no waiting: runs what arrived from other threads, lets the
    /// lanes take turns, and then sends their output. One write for each connection combines the responses of many calls into one
    /// system call.
    private func turn() {
        guard let turns = lanes else { return }
        receiving.end = nil
        if hasMail {
            hasMail = false
            takeInbox(into: turns)
        }
        guard turns.hasWork || !actions.isEmpty || !unflushed.isEmpty else { return setBusy(false) }
        var start = now
        let end = start + CallTurns.budget
        while start < end {
            while let action = actions.popFirst() {
                action()
                start = now
                guard start < end - CallTurns.budget / 2 else { break }
            }
            // Whatever the actions took.
            turns.run(from: start, until: max(end, start &+ CallTurns.budget / 2))
            var index = 0
            while index < unflushed.count {
                unflushed[index].flush()
                index += 1
            }
            unflushed.removeAll(keepingCapacity: true)
            guard turns.hasWork || !actions.isEmpty else { return setBusy(false) }
            takeInbox(into: turns)
            start = now
        }
        setBusy(true)
    }

    /// The turn before polling, for what timers have added; what arrives from other threads ends the poll.
    private func turnIfNeeded() {
        if needsTurn { turn() }
    }

    /// Ends a turn.
    ///
    /// - Parameter isBusy: whether work is left.
    private func setBusy(_ isBusy: Bool) {
        needsTurn = isBusy
        if isBusy { uv_idle_start(handles.whileBusy) { _ in } } else { uv_idle_stop(handles.whileBusy) }
    }

    private func takeInbox(into turns: CallTurns) {
        guard let arrived = takeInbox() else { return }
        for work in arrived {
            switch work {
            case .job(let job, let lane?): lane.add(job)
            case .job(let job, nil): turns.gateway.add(job, of: asUnownedTaskExecutor())
            case .action(let action): actions.append(action)
            }
        }
    }

    /// - Returns: `nil` if nothing arrived.
    private func takeInbox() -> [Work]? {
        inbox.withLock { inbox in
            guard let taken = inbox, !taken.isEmpty else { return nil }
            inbox = []
            return taken
        }
    }

    /// Ends the thread after all other handles on this loop are closed, and returns when it has ended.
    package func stop() {
        run { [self] in
            inbox.withLock { $0 = nil }
            // Lanes may outlive the loop, and keep it until then.
            lanes?.stop()
            lanes = nil
            // What would have been done later refers to its connection, and so to the loop.
            timers = TimerHeap()
            actions = FIFOQueue()
            unflushed = []
            handles.close()
        }
        thread.stopped.wait()
    }
}
