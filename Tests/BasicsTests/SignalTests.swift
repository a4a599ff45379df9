import TestSupport
import Testing

@testable import Basics

@Suite(.timeLimited) struct SignalTests {
    @Test func whatRangBeforeTheWaitIsHeard() async {
        let signal = Signal()
        let rings = signal.count
        signal.notify()
        await signal.wait(after: rings)
    }

    @Test func everybodyIsWoken() async {
        let signal = Signal()
        let rings = signal.count
        await withTaskGroup(of: Void.self) { group in
            for _ in 0..<8 { group.addTask { await signal.wait(after: rings) } }
            signal.notify()
        }
    }

    @Test func aCancelledTaskDoesNotWait() async {
        let signal = Signal()
        let task = Task { await signal.wait(after: signal.count) }
        task.cancel()
        await task.value
    }

    @Test func aWaitThatIsOverWakesNobodyElse() async {
        let signal = Signal()
        let rings = signal.count
        await signal.wait(after: rings, atMost: .milliseconds(1))
        #expect(signal.count == rings)
    }

    /// One whose ring came first, too: what would end it later has to end with it.
    @Test func aRingEndsAWaitAndRingsNothingFurther() async {
        let signal = Signal()
        for _ in 1...100 {
            let rings = signal.count
            let task = Task { await signal.wait(after: rings, atMost: .seconds(3600)) }
            signal.notify()
            await task.value
        }
        #expect(signal.count == 100)
    }
}
