/// The order of steps that depend on each other.
struct StepPlan<Step: Hashable & Sendable>: Sendable {
    private var waiting: [(step: Step, missing: Set<Step>)]
    private var running: Set<Step> = []
    private let limit: Int

    /// Traps if steps depend on each other in a circle, or on a step that is not there.
    ///
    /// - Parameters:
    ///   - steps: the steps in the order in which they begin if nothing else decides, each with those that have to be finished
    ///     before.
    ///   - limit: the number of steps at once.
    init(_ steps: [(step: Step, after: [Step])], atOnce limit: Int) {
        waiting = steps.map { ($0.step, Set($0.after)) }
        self.limit = limit
        precondition(limit > 0 && Self.canFinish(waiting.map(\.step), waiting.map(\.missing)), "the steps never finish")
    }

    private static func canFinish(_ steps: [Step], _ missing: [Set<Step>]) -> Bool {
        var finished: Set<Step> = []
        for _ in steps {
            for (step, missing) in zip(steps, missing) where missing.isSubset(of: finished) { finished.insert(step) }
        }
        return finished.count == steps.count
    }

    /// Returns the steps that begin now.
    mutating func begin() -> [Step] {
        var begun: [Step] = []
        while running.count < limit, let index = waiting.firstIndex(where: { $0.missing.isEmpty }) {
            let step = waiting.remove(at: index).step
            running.insert(step)
            begun.append(step)
        }
        return begun
    }

    /// Records that a step is finished.
    mutating func finish(_ step: Step) {
        running.remove(step)
        for index in waiting.indices { waiting[index].missing.remove(step) }
    }

    /// Runs the steps. The first error cancels the others, and is thrown.
    func run(_ work: @escaping @Sendable (Step) async throws -> Void) async throws {
        try await withThrowingTaskGroup(of: Step.self) { group in
            var plan = self
            func beginNext() {
                for step in plan.begin() {
                    group.addTask {
                        try Task.checkCancellation()
                        try await work(step)
                        return step
                    }
                }
            }
            beginNext()
            while let finished = try await group.next() {
                plan.finish(finished)
                beginNext()
            }
        }
    }
}
