import Basics
import CUV
import Foundation
import RPC

/// One thread with a libuv loop: the sockets that belong to it, and the handlers of their calls.
///
/// It is a `TaskExecutor` and runs those handlers' jobs between its callbacks, so that a call that waits for nothing
/// costs no hop to another thread. Sendable although it has state: everything but `inbox` is touched on its own thread
/// only, which ``preconditionCurrent()`` checks.
package final class EventLoop: CallLoop, TaskExecutor, @unchecked Sendable {  // state belongs to its thread; checked
    private enum Work {
        case job(UnownedJob)
        case action(@Sendable () -> Void)
    }

    let uv: UnsafeMutablePointer<uv_loop_t>
    /// Where sockets read into: what is read is consumed before the next read.
    let readBuffer = UnsafeMutableRawBufferPointer.allocate(byteCount: 64 * 1024, alignment: 16)
    /// Where a connection's frames are gathered for one write.
    let writeBuffer = UnsafeMutableRawBufferPointer.allocate(byteCount: 64 * 1024, alignment: 16)

    private let wakeUp: UnsafeMutablePointer<uv_async_t>
    private let beforePoll: UnsafeMutablePointer<uv_prepare_t>
    private let afterPoll: UnsafeMutablePointer<uv_check_t>
    private let timer: UnsafeMutablePointer<uv_timer_t>
    /// Work from other threads; `nil` once the loop has ended.
    private let inbox = Lock<[Work]?>([])
    /// The loop's own thread; set before anything else can ask for it.
    private nonisolated(unsafe) var thread: pthread_t?  // written once, before `init` returns
    private var ready: [UnownedJob] = []
    private var unflushed: [SocketConnection] = []
    private var timers = TimerHeap()
    private let stopped = DispatchSemaphore(value: 0)

    package init(name: String) {
        uv = .allocate(capacity: 1)
        wakeUp = .allocate(capacity: 1)
        beforePoll = .allocate(capacity: 1)
        afterPoll = .allocate(capacity: 1)
        timer = .allocate(capacity: 1)
        precondition(uv_loop_init(uv) == 0, "the system has no memory for an event loop")
        let context = Unmanaged.passUnretained(self).toOpaque()
        uv.pointee.data = context
        uv_async_init(uv, wakeUp) { _ in }
        uv_prepare_init(uv, beforePoll)
        uv_prepare_start(beforePoll) { EventLoop.of($0?.pointee.loop).turn() }
        uv_check_init(uv, afterPoll)
        uv_check_start(afterPoll) { EventLoop.of($0?.pointee.loop).turn() }
        uv_timer_init(uv, timer)
        start(name)
    }

    deinit {
        readBuffer.deallocate()
        writeBuffer.deallocate()
        wakeUp.deallocate()
        beforePoll.deallocate()
        afterPoll.deallocate()
        timer.deallocate()
        uv.deallocate()
    }

    private func start(_ name: String) {
        let started = DispatchSemaphore(value: 0)
        let thread = Thread {
            self.thread = pthread_self()
            started.signal()
            uv_run(self.uv, UV_RUN_DEFAULT)
            uv_loop_close(self.uv)
            self.stopped.signal()
        }
        thread.name = name
        thread.stackSize = 1 << 20
        thread.start()
        started.wait()
    }

    static func of(_ uv: UnsafeMutablePointer<uv_loop_t>?) -> EventLoop {
        guard let context = uv?.pointee.data else { preconditionFailure("a handle without its loop") }
        return Unmanaged<EventLoop>.fromOpaque(context).takeUnretainedValue()
    }

    // MARK: CallLoop

    package var executor: any TaskExecutor { self }

    package private(set) lazy var handlerTasks = HandlerTasks(executor: self)

    package var now: UInt64 { uv_hrtime() }

    /// Whether the caller runs on this loop's thread.
    package var isCurrent: Bool {
        guard let thread else { return false }
        return pthread_equal(thread, pthread_self()) != 0
    }

    /// Ends the process where the caller does not run on this loop's thread: state of the loop would be touched by two
    /// threads, which nobody would notice until it is lost.
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

    private func armTimer() {
        guard let next = timers.earliest else { return }
        let current = now
        let delay = next.time > current ? (next.time - current) / 1_000_000 + 1 : 0
        uv_timer_start(
            timer, { handle in EventLoop.of(handle?.pointee.loop).fireTimers() }, delay, 0)
    }

    private func fireTimers() {
        while let due = timers.removeDue(now) { due.fire() }
        armTimer()
    }

    // MARK: work

    package func enqueue(_ job: consuming ExecutorJob) {
        let job = UnownedJob(job)
        if isCurrent { ready.append(job) } else { post(.job(job)) }
    }

    /// Runs `action` on the loop, soon; never, once the loop was stopped.
    package func run(_ action: @escaping @Sendable () -> Void) { post(.action(action)) }

    /// Returns when the loop has come round to it: never, while something on it does not end.
    package func answer() async {
        await withCheckedContinuation { continuation in
            run { continuation.resume() }
        }
    }

    /// What comes when the loop has ended is dropped: a handler that outlived its connection may still be resumed then.
    private func post(_ work: Work) {
        inbox.withLock { inbox in
            guard inbox != nil else { return }
            inbox?.append(work)
            // Under the lock, so that `wakeUp` is never closed meanwhile: libuv would abort the process.
            if inbox?.count == 1 { uv_async_send(wakeUp) }
        }
    }

    /// Has `connection` send what it has, at the end of this turn.
    func flushLater(_ connection: SocketConnection) {
        preconditionCurrent()
        unflushed.append(connection)
    }

    /// Does everything that can be done without waiting: jobs that became ready, then what they gave to send, until
    /// nothing is left. Writing once a turn joins the answers of many calls into one system call.
    private func turn() {
        let executor = asUnownedTaskExecutor()
        repeat {
            for work in takeInbox() {
                switch work {
                case .job(let job): ready.append(job)
                case .action(let action): action()
                }
            }
            var index = 0
            while index < ready.count {
                ready[index].runSynchronously(on: executor)
                index += 1
            }
            ready.removeAll(keepingCapacity: true)
            index = 0
            while index < unflushed.count {
                unflushed[index].flush()
                index += 1
            }
            unflushed.removeAll(keepingCapacity: true)
        } while !ready.isEmpty
    }

    private func takeInbox() -> [Work] {
        inbox.withLock { inbox in
            guard let taken = inbox, !taken.isEmpty else { return [] }
            inbox = []
            return taken
        }
    }

    /// Ends the thread, once every handle of others on this loop is closed; returns when it has.
    package func stop() {
        run { [self] in
            inbox.withLock { $0 = nil }
            handlerTasks.end()
            closeHandle(UnsafeMutableRawPointer(wakeUp))
            closeHandle(UnsafeMutableRawPointer(beforePoll))
            closeHandle(UnsafeMutableRawPointer(afterPoll))
            closeHandle(UnsafeMutableRawPointer(timer))
        }
        stopped.wait()
    }

    private func closeHandle(_ handle: UnsafeMutableRawPointer) {
        uv_close(handle.assumingMemoryBound(to: uv_handle_t.self), nil)
    }
}
