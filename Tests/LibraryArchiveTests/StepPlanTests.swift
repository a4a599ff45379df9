import Basics
import Synchronization
import TestSupport
import Testing

@testable import LibraryArchive

@Suite(.timeLimited) struct StepPlanTests {
    private struct Failure: Error {}

    private static let diamond: [(step: String, after: [String])] = [
        ("end", ["left", "right", "middle"]), ("left", ["start"]), ("middle", ["start"]), ("right", ["start"]),
        ("start", []),
    ]

    @Test func stepsBeginWhenTheirDependenciesAreFinished() {
        var plan = StepPlan(Self.diamond, atOnce: 2)
        #expect(plan.begin() == ["start"])
        #expect(plan.begin().isEmpty)
        plan.finish("start")
        #expect(plan.begin() == ["left", "middle"])
        #expect(plan.begin().isEmpty)
        plan.finish("middle")
        #expect(plan.begin() == ["right"])
        plan.finish("left")
        #expect(plan.begin().isEmpty)
        plan.finish("right")
        #expect(plan.begin() == ["end"])
        plan.finish("end")
        #expect(plan.begin().isEmpty)
    }

    @Test func circlesOfStepsTrap() async {
        await #expect(processExitsWith: .failure) {
            _ = StepPlan([("a", ["b"]), ("b", ["a"])], atOnce: 1)
        }
        await #expect(processExitsWith: .failure) {
            _ = StepPlan([("a", ["missing"])], atOnce: 1)
        }
    }

    @Test func allStepsRunInOrder() async throws {
        let done = Lock<[String]>([])
        try await StepPlan(Self.diamond, atOnce: 3).run { step in done.withLock { $0.append(step) } }
        let order = done.withLock { $0 }
        #expect(order.first == "start" && order.last == "end" && Set(order).count == 5)
    }

    @Test func firstErrorCancelsTheOthers() async throws {
        let begun = Lock<Set<String>>([])
        let wasCancelled = Lock(false)
        await #expect(throws: Failure.self) {
            try await StepPlan(Self.diamond, atOnce: 3).run { step in
                _ = begun.withLock { $0.insert(step) }
                switch step {
                case "left": throw Failure()
                case "middle", "right":
                    // Ends with the cancellation only.
                    do {
                        try await Task.sleep(for: .seconds(3600))
                    } catch {
                        wasCancelled.withLock { $0 = true }
                        throw error
                    }
                default: break
                }
            }
        }
        #expect(wasCancelled.withLock { $0 })
        #expect(!begun.withLock { $0.contains("end") })
    }
}
