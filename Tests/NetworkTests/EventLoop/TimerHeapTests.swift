import RPC
import TestSupport
import Testing

@testable import EventLoops

@Suite(.timeLimited) struct TimerHeapTests {
    @Test func timersComeInTheOrderOfTheirTime() {
        var random = SystemRandomNumberGenerator()
        var heap = TimerHeap()
        var times = (0..<1000).map { UInt64($0 / 3) }
        times.shuffle(using: &random)
        for time in times { _ = heap.insert(LoopTimer(time: time) {}) }
        var taken: [UInt64] = []
        while let timer = heap.removeDue(500) { taken.append(timer.time) }
        #expect(taken == times.sorted())
    }

    @Test func notBeforeTheirTime() {
        var heap = TimerHeap()
        let isEarliest = [20, 10, 30].map { time in heap.insert(LoopTimer(time: time) {}) }
        #expect(isEarliest == [true, true, false])
        let taken = [9, 10, 10].map { now in heap.removeDue(now)?.time }
        #expect(taken == [nil, 10, nil])
        #expect(heap.earliest?.time == 20)
    }

    @Test func cancelledTimersAreNeitherSeenNorKept() {
        var heap = TimerHeap()
        let kept = LoopTimer(time: 1_000_000) {}
        _ = heap.insert(kept)
        weak var first: LoopTimer?
        for time in 0..<10_000 {
            let timer = LoopTimer(time: UInt64(500_000 + time)) {}
            if time == 0 { first = timer }
            _ = heap.insert(timer)
            timer.cancel()
        }
        #expect(first == nil)
        let taken = heap.removeDue(1_000_000)
        #expect(taken === kept)
    }
}
