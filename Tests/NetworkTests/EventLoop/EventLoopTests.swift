import Basics
import EventLoops
import RPC
import Synchronization
import TestSupport
import Testing

@Suite(.timeLimited) struct EventLoopTests {
    /// A handler without a connection may be resumed after the loop has ended.
    @Test func jobsAfterTheEndAreDropped() {
        let loop = EventLoop(name: "test")
        loop.stop()
        loop.run { Issue.record("the loop has ended") }
    }

    /// Its lanes, the tasks that are kept in them, and timers that are not due refer to it.
    @Test func stoppedLoopIsReleased() async throws {
        let ended = Ended()
        do {
            let loop = EventLoop(name: "test")
            await Task(executorPreference: loop) { await Task.yield() }.value
            loop.run { _ = loop.schedule(at: .max) { loop.preconditionCurrent() } }
            loop.stop()
            ended.loop = loop
        }
        // Its thread still holds it for a moment.
        try waitUntil { ended.loop == nil }
    }

    private final class Ended {
        weak var loop: EventLoop?
    }

    @Test func itsTimersAreMadeOnItsOwnThreadOnly() async {
        await withCheckedContinuation { continuation in
            let loop = EventLoop(name: "test")
            loop.run {
                _ = loop.schedule(at: 0) { continuation.resume() }
            }
        }
        await #expect(processExitsWith: .failure) {
            _ = EventLoop(name: "test").schedule(at: 0) {}
        }
    }

    /// Thousands of calls may have the same deadline.
    @Test func timersThatAreDueTogetherDoNotKeepOtherWorkWaiting() async {
        let time = Lock<UInt64>(1_000_000_000)
        let loop = EventLoop(name: "test") { time.withLock { $0 } }
        let order: [String] = await withCheckedContinuation { continuation in
            let noted = Lock<[String]>([])
            @Sendable func note(_ name: String) {
                let all = noted.withLock {
                    $0.append(name)
                    return $0
                }
                if all.count == 4 { continuation.resume(returning: all) }
            }
            loop.run {
                for number in 1...3 {
                    _ = loop.schedule(at: 0) {
                        time.withLock { $0 += CallTurns.budget }
                        if number == 1 { loop.run { note("action") } }
                        note("timer")
                    }
                }
            }
        }
        #expect(order == ["timer", "action", "timer", "timer"])
        loop.stop()
    }
}
