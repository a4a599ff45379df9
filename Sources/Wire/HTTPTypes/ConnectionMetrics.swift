package import Basics
import Synchronization

/// A listener's counters of connections; any thread may read them at any time.
package final class ConnectionMetrics: Sendable {
    private let acceptedCount = Atomic<Int>(0)
    private let openCount = Atomic<Int>(0)
    private let reached = Lock<[String: Int]>([:])
    /// Notifies when a limit was reached or a connection ended, after it was counted.
    package let changes = Signal()

    package init() {}

    package var accepted: Int { acceptedCount.load(ordering: .relaxed) }
    package var open: Int { openCount.load(ordering: .relaxed) }
    /// The number of times that each limit was reached, by its name.
    package var limits: [String: Int] { reached.withLock { $0 } }

    package func connectionOpened() {
        acceptedCount.add(1, ordering: .relaxed)
        openCount.add(1, ordering: .relaxed)
    }

    package func connectionClosed() {
        openCount.subtract(1, ordering: .relaxed)
        changes.notify()
    }

    /// Counts a reached limit, because of which a client was refused or cut off.
    package func limitReached(_ name: String) {
        reached.withLock { $0[name, default: 0] += 1 }
        changes.notify()
    }
}
