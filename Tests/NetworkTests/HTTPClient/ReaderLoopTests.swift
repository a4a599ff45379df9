import Basics
import TestSupport
import Testing

@testable import HTTPClient

/// Loops that run transfers on the threads of their readers.
@Suite(.timeLimited) struct ReaderLoopTests {
    /// A thread that waits for its turn could wait until the end of the reading, which may itself need that thread.
    @Test func workIsPassedOnWithoutWaitingForTheReader() throws {
        for _ in 0..<500 {
            let loop = try #require(ReaderLoop())
            let isOver = Lock(false)
            let reader = TestThread { loop.run { isOver.withLock { $0 } ? () : nil } }
            let waker = TestThread { for _ in 0..<1000 { loop.wake() } }
            let other = TestThread { for _ in 0..<1000 { loop.post(.release(TransferCache())) } }
            try waker.join()
            try other.join()
            isOver.withLock { $0 = true }
            loop.wake()
            try reader.join()
        }
    }

    /// A command may arrive after the reader looked for commands, and before it leaves.
    @Test func noCommandIsLeftWhenTheReaderLeaves() throws {
        let loop = try #require(ReaderLoop())
        for _ in 0..<1000 {
            let reader = TestThread {
                var steps = 0
                loop.run {
                    steps += 1
                    return steps > 1 ? () : nil
                }
            }
            let others = (0..<2).map { _ in
                TestThread { for _ in 0..<5 { loop.post(.release(TransferCache())) } }
            }
            for other in others { try other.join() }
            loop.wake()
            try reader.join()
            #expect(loop.commands.isEmpty)
            guard loop.commands.isEmpty else { return }
        }
    }
}
