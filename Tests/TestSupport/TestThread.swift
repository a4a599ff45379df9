import Dispatch
import Foundation

/// A thread of a test's own. A global queue may never run what a test waits for: it starts no thread as long as tests keep as many
/// of its threads busy as there are processors.
package final class TestThread: Sendable {
    private let ended = DispatchSemaphore(value: 0)

    /// Runs `body` on a new thread.
    package init(_ body: @escaping @Sendable () -> Void) {
        Thread { [ended] in
            body()
            ended.signal()
        }.start()
    }

    /// Waits for the end of `body`.
    ///
    /// - Throws: ``WaitTimeout`` after fifteen minutes.
    package func join() throws(WaitTimeout) { try ended.waitForSignal() }
}
