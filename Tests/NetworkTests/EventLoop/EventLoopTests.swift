import Network
import Testing

@Suite struct EventLoopTests {
    /// A handler whose connection is gone may be resumed when the loop has ended.
    @Test func whatComesAfterTheEndIsDropped() {
        let loop = EventLoop(name: "test")
        loop.stop()
        loop.run { Issue.record("the loop has ended") }
    }
}
