import TestSupport
import Testing

@testable import Basics

@Suite(.timeLimited) struct RoundRobinTests {
    @Test func ownerThatWaitedLongestIsFirst() {
        var turns = RoundRobin<String>()
        #expect(turns.order(["a", "b", "c"]) == ["a", "b", "c"])
        for owner in ["a", "b", "a"] { turns.take(owner) }
        #expect(turns.order(["a", "b", "c"]) == ["c", "b", "a"])
        turns.take("c")
        #expect(turns.order(["a", "c"]) == ["a", "c"])
    }
}
