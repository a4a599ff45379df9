import Synchronization

/// The number of times that limits were reached that all listeners share; any thread may read them at any time.
package final class LimitCounts: Sendable {
    private let counts = Lock<[String: Int]>([:])

    package init() {}

    /// The number of times that each limit was reached, by its name.
    package var all: [String: Int] { counts.withLock { $0 } }

    /// Counts a reached limit, because of which somebody was refused or lost something.
    package func reached(_ name: String) { counts.withLock { $0[name, default: 0] += 1 } }
}
