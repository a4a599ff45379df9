import Basics

/// The tasks that run the calls of a lane.
///
/// A new task for each call would cost more than the rest of a short call. So calls are queued, and a task runs one after the
/// other. Only a call that suspends keeps its task; another task is then woken for the calls in the queue.
///
/// Sendable although it is mutable: its state is used on the loop only.
final class HandlerTasks: @unchecked Sendable {  // state belongs to its loop
    /// The largest number of tasks of a loop that are kept without a call.
    static let maxParked = 256

    private let turns: CallTurns
    private var calls = FIFOQueue<ServerCall>()
    private var parked: [HandlerTask] = []
    /// The number of tasks that are not parked.
    private(set) var running = 0
    /// Whether a task was woken that has not yet taken a call.
    private var isWaking = false
    private var hasEnded = false

    init(_ turns: CallTurns) {
        self.turns = turns
    }

    var hasCalls: Bool { !calls.isEmpty }

    func add(_ call: ServerCall) {
        turns.loop.assertCurrent()
        calls.append(call)
    }

    /// Wakes a task for the calls in the queue.
    ///
    /// - Parameter lane: the executor of the tasks, which owns this.
    /// - Returns: whether there are any.
    func wakeOne(on lane: Lane) -> Bool {
        guard hasCalls else { return false }
        guard !isWaking else { return true }
        isWaking = true
        running += 1
        if let task = parked.popLast() {
            turns.parkedTasks -= 1
            task.wake(true)
        } else {
            HandlerTask.start(for: self, on: lane)
        }
        return true
    }

    /// Ends the tasks without a call. Must be called on the loop, after the last call.
    func end() {
        turns.loop.assertCurrent()
        hasEnded = true
        turns.parkedTasks -= parked.count
        running += parked.count
        while let task = parked.popLast() { task.wake(false) }
    }

    // MARK: For the tasks

    fileprivate func arrived() {
        assertCurrent()
        isWaking = false
    }

    fileprivate func assertCurrent() { turns.loop.assertCurrent() }

    fileprivate func ended() { running -= 1 }

    /// Returns the next call that may begin; `nil` without one, and if the turn is over.
    ///
    /// - Parameter isFirst: whether the task was just woken for it.
    fileprivate func next(isFirst: Bool) -> ServerCall? {
        turns.loop.assertCurrent()
        guard hasCalls, isFirst || turns.hasTime else { return nil }
        while let call = calls.popFirst() {
            if call.mayBegin() { return call }
        }
        return nil
    }

    /// - Returns: whether the task is kept.
    fileprivate func park(_ task: HandlerTask) -> Bool {
        turns.loop.assertCurrent()
        guard !hasEnded, turns.parkedTasks < Self.maxParked else { return false }
        turns.parkedTasks += 1
        running -= 1
        parked.append(task)
        return true
    }
}

/// A task that runs calls.
///
/// Sendable although it is mutable: its state is used on the loop only.
final class HandlerTask: @unchecked Sendable {  // state belongs to its loop
    private let tasks: HandlerTasks
    private var task: Task<Void, Never>?
    private var sleep: UnsafeContinuation<Bool, Never>?
    private var isCancelled = false

    private init(_ tasks: HandlerTasks) {
        self.tasks = tasks
    }

    fileprivate static func start(for tasks: HandlerTasks, on lane: Lane) {
        let fresh = HandlerTask(tasks)
        fresh.task = Task.detached(executorPreference: lane) { await fresh.work() }
    }

    /// Cancels the running call. A cancellation cannot be undone, so it is the task's last call.
    func cancel() {
        tasks.assertCurrent()
        isCancelled = true
        task?.cancel()
    }

    fileprivate func wake(_ hasWork: Bool) {
        tasks.assertCurrent()
        // The task may run, and suspend again, within `resume`.
        sleep.take()?.resume(returning: hasWork)
    }

    /// Runs calls. The function and its callees stay on the loop, and need not determine their executor at each step.
    nonisolated(nonsending) private func work() async {
        repeat {
            tasks.arrived()
            var isFirst = true
            while !isCancelled, let call = tasks.next(isFirst: isFirst) {
                isFirst = false
                await call.proceed(in: self)
            }
        } while await hasMoreWork()
        tasks.ended()
        task = nil
    }

    nonisolated(nonsending) private func hasMoreWork() async -> Bool {
        guard !isCancelled, tasks.park(self) else { return false }
        return await withUnsafeContinuation { sleep = $0 }
    }
}
