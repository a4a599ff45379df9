package import Dispatch
import Glibc

/// A wait that took so long that what it is for never comes.
package struct WaitTimeout: Error {}

/// Fifteen minutes: on a busy machine a test may wait for a processor until most of the others have run, and a test that fails blocks a
/// thread of the others only that long.
private let longestWait = Duration.seconds(900)

extension DispatchSemaphore {
    /// Waits for a signal.
    ///
    /// - Throws: ``WaitTimeout`` after fifteen minutes.
    package func waitForSignal() throws(WaitTimeout) {
        guard wait(timeout: .now() + .seconds(Int(longestWait.components.seconds))) == .success else {
            throw WaitTimeout()
        }
    }
}

/// Waits for a condition that another thread makes true at once, and that signals nothing.
///
/// - Throws: ``WaitTimeout`` after fifteen minutes.
package func waitUntil(_ isTrue: () -> Bool) throws(WaitTimeout) {
    let start = ContinuousClock.now
    while !isTrue() {
        guard ContinuousClock.now - start < longestWait else { throw WaitTimeout() }
        sched_yield()
    }
}
