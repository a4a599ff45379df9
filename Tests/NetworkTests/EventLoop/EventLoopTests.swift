import EventLoops
import TestSupport
import Testing

@Suite(.timeLimited) struct EventLoopTests {
    /// A handler without a connection may be resumed after the loop has ended.
    @Test func jobsAfterTheEndAreDropped() {
        let loop = EventLoop(name: "test")
        loop.stop()
        loop.run { Issue.record("the loop has ended") }
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
}
