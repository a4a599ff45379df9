/// The tasks that the handlers of a loop's calls run in.
///
/// A task for each call would cost more than the rest of a short one. So calls stand in line, and a task takes one after
/// the other. Only a handler that waits for something keeps its task: by then another was woken for the calls behind it.
///
/// Sendable although it has state: that is touched on the loop only.
package final class HandlerTasks: @unchecked Sendable {  // state belongs to its loop
    /// Tasks that are kept without a call.
    static let maxParked = 64

    /// The executor of the loop, which owns this.
    private unowned let executor: any TaskExecutor
    /// Calls in line: the first ones last in `front`, the others behind them in `back`.
    private var front: [ServerCall] = []
    private var back: [ServerCall] = []
    private var parked: [HandlerTask] = []
    /// A task is on its way to the line.
    private var isWaking = false
    private var hasEnded = false

    /// - Parameter executor: the loop's.
    package init(executor: any TaskExecutor) {
        self.executor = executor
    }

    /// Runs the call's handler, when the loop comes to it.
    func run(_ call: ServerCall) {
        back.append(call)
        wakeOne()
    }

    /// Lets the tasks without a call end. To be called on the loop, when no call will come any more.
    package func end() {
        hasEnded = true
        while let task = parked.popLast() { task.wake(false) }
    }

    private func wakeOne() {
        guard !isWaking else { return }
        isWaking = true
        if let task = parked.popLast() { task.wake(true) } else { HandlerTask.start(for: self, on: executor) }
    }

    // MARK: what the tasks use

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

/// One of them.
///
/// Sendable although it has state: that is touched on the loop only.
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

    /// Cancels the handler that runs in it. That cannot be taken back, so it is the task's last.
    func cancel() {
        isCancelled = true
        task?.cancel()
    }

    fileprivate func wake(_ hasWork: Bool) {
        // It may run, and sleep again, within `resume`.
        sleep.take()?.resume(returning: hasWork)
    }

    /// It and what it calls stay on the loop anyway, and need not look for their executor at each step.
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
