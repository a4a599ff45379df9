/// The tasks that run the handlers of a loop's calls.
///
/// A new task for each call would cost more than the rest of a short call. So calls are queued, and a task runs one after the
/// other. Only a handler that suspends keeps its task; another task was then woken for the calls in the queue.
///
/// Sendable although it is mutable: its state is used on the loop only.
package final class HandlerTasks: @unchecked Sendable {  // state belongs to its loop
    /// The largest number of tasks kept without a call.
    static let maxParked = 64

    /// The executor of the loop, which owns this.
    private unowned let executor: any TaskExecutor
    /// The queue: the first calls are in `front`, in reverse order, the others in `back`.
    private var front: [ServerCall] = []
    private var back: [ServerCall] = []
    private var parked: [HandlerTask] = []
    /// Whether a task was woken that has not yet taken a call.
    private var isWaking = false
    private var hasEnded = false

    /// - Parameter executor: the loop's.
    package init(executor: any TaskExecutor) {
        self.executor = executor
    }

    /// Runs the call's handler in a later turn of the loop.
    func run(_ call: ServerCall) {
        back.append(call)
        wakeOne()
    }

    /// Ends the tasks without a call. Must be called on the loop, after the last call.
    package func end() {
        hasEnded = true
        while let task = parked.popLast() { task.wake(false) }
    }

    private func wakeOne() {
        guard !isWaking else { return }
        isWaking = true
        if let task = parked.popLast() { task.wake(true) } else { HandlerTask.start(for: self, on: executor) }
    }

    // MARK: For the tasks

    fileprivate func arrived() { isWaking = false }

    fileprivate func next() -> ServerCall? {
        while let call = takeFirst() {
            if call.mayBegin() { return call }
        }
        return nil
    }

    private func takeFirst() -> ServerCall? {
        if front.isEmpty {
            swap(&front, &back)
            front.reverse()
        }
        guard let call = front.popLast() else { return nil }
        if !front.isEmpty || !back.isEmpty { wakeOne() }
        return call
    }

    /// - Returns: whether the task is kept.
    fileprivate func park(_ task: HandlerTask) -> Bool {
        guard !hasEnded, parked.count < Self.maxParked else { return false }
        parked.append(task)
        return true
    }
}

/// A task that runs handlers.
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

    fileprivate static func start(for tasks: HandlerTasks, on executor: any TaskExecutor) {
        let fresh = HandlerTask(tasks)
        fresh.task = Task.detached(executorPreference: executor) { await fresh.work() }
    }

    /// Cancels the running handler. A cancellation cannot be undone, so it is the task's last handler.
    func cancel() {
        isCancelled = true
        task?.cancel()
    }

    fileprivate func wake(_ hasWork: Bool) {
        // The task may run, and suspend again, within `resume`.
        sleep.take()?.resume(returning: hasWork)
    }

    /// Runs handlers. The function and its callees stay on the loop, and need not determine their executor at each step.
    nonisolated(nonsending) private func work() async {
        repeat {
            tasks.arrived()
            while !isCancelled, let call = tasks.next() { await call.handle(in: self) }
        } while await hasMoreWork()
        task = nil
    }

    nonisolated(nonsending) private func hasMoreWork() async -> Bool {
        guard !isCancelled, tasks.park(self) else { return false }
        return await withUnsafeContinuation { sleep = $0 }
    }
}
