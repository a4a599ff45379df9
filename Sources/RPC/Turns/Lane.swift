import Basics

/// The work that an event loop does for one owner: that of one connection, or of all requests over HTTP/1.1. The loop's lanes take
/// turns, and work within a lane is done in its order.
///
/// It is the executor of the tasks that run its calls, so that whatever resumes them returns to the lane. Sendable although it is
/// mutable: its state is used on the loop only, and `enqueue` passes jobs from other threads to the loop.
package final class Lane: TaskExecutor, @unchecked Sendable {  // state belongs to its loop
    private enum Work {
        /// A job with the executor of its task.
        case job(UnownedJob, UnownedTaskExecutor)
        case action(() -> Void)
    }

    let turns: CallTurns
    let node: TurnNode
    /// Whether it has work, or is taking its turn.
    private var isActive = false
    private var works = FIFOQueue<Work>()
    /// The tasks that run the calls of the lane, and the calls that wait for one.
    private let tasks: HandlerTasks
    /// Time outside of turns that is not charged yet, in nanoseconds.
    private var uncharged: UInt64 = 0

    /// - Parameter owner: the party whose turns the lane shares with the owner's other lanes.
    init(_ turns: CallTurns, of owner: TurnNode) {
        self.turns = turns
        node = TurnNode(in: owner)
        tasks = HandlerTasks(turns)
    }

    /// Whether the lane has nothing to do, and no call in progress.
    var isIdle: Bool { !isActive && tasks.running == 0 }

    package func enqueue(_ job: consuming ExecutorJob) {
        let job = UnownedJob(job)
        if turns.loop.isCurrent { add(job) } else { turns.loop.post(job, to: self) }
    }

    /// Adds a job of a task on this executor. Must be called on the loop.
    package func add(_ job: UnownedJob) { add(job, of: asUnownedTaskExecutor()) }

    /// Adds a job of a task on another executor: the language's runtime has to know on which one it runs. Must be called on the loop.
    package func add(_ job: UnownedJob, of executor: UnownedTaskExecutor) {
        works.append(.job(job, executor))
        activate()
    }

    /// Performs `action` in the lane's turn. Must be called on the loop.
    package func perform(_ action: @escaping () -> Void) {
        works.append(.action(action))
        activate()
    }

    /// Runs the call's handler in the lane's turn. Must be called on the loop.
    func run(_ call: ServerCall) {
        tasks.add(call)
        activate()
    }

    private func activate() {
        turns.loop.assertCurrent()
        guard !isActive else { return }
        isActive = true
        turns.activate(self)
        turns.loop.workArrived()
    }

    /// Counts time that the loop worked for the lane outside of its turns; it is charged with the next turn.
    package func charge(_ nanoseconds: UInt64) { uncharged &+= nanoseconds }

    /// Works until `end`, or until there is nothing left.
    ///
    /// - Parameters:
    ///   - start: the time on the loop's clock.
    ///   - end: a time on it.
    /// - Returns: the time at which it stopped.
    func takeTurn(from start: UInt64, until end: UInt64) -> UInt64 {
        var now = start
        repeat {
            // A task that is woken adds its job.
            if works.isEmpty, !tasks.wakeOne(on: self) { break }
            switch works.popFirst() {
            case .job(let job, let executor): job.runSynchronously(on: executor)
            case .action(let action): action()
            case nil: break
            }
            now = turns.loop.now
        } while now < end
        isActive = !works.isEmpty || tasks.hasCalls
        turns.endTurn(of: self, charging: now &- start &+ uncharged, isDone: !isActive)
        uncharged = 0
        return now
    }

    /// Ends the tasks without a call, those in progress when their calls end.
    func end() { tasks.end() }
}
