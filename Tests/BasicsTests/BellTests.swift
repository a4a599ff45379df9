import Testing

@testable import Basics

@Suite struct BellTests {
    @Test func whatRangBeforeTheWaitIsHeard() async {
        let bell = Bell()
        let rings = bell.rings
        bell.ring()
        await bell.wait(after: rings)
    }

    @Test func everybodyIsWoken() async {
        let bell = Bell()
        let rings = bell.rings
        await withTaskGroup(of: Void.self) { group in
            for _ in 0..<8 { group.addTask { await bell.wait(after: rings) } }
            bell.ring()
        }
    }

    @Test func aCancelledTaskDoesNotWait() async {
        let bell = Bell()
        let task = Task { await bell.wait(after: bell.rings) }
        task.cancel()
        await task.value
    }

    @Test func aWaitThatIsOverWakesNobodyElse() async {
        let bell = Bell()
        let rings = bell.rings
        await bell.wait(after: rings, atMost: .milliseconds(1))
        #expect(bell.rings == rings)
    }

    /// One whose ring came first, too: what would end it later has to end with it.
    @Test(.timeLimit(.minutes(1))) func aRingEndsAWaitAndRingsNothingFurther() async {
        let bell = Bell()
        for _ in 1...100 {
            let rings = bell.rings
            let task = Task { await bell.wait(after: rings, atMost: .seconds(3600)) }
            bell.ring()
            await task.value
        }
        #expect(bell.rings == 100)
    }
}
