import Basics
import Synchronization

/// The counts of a program on its connections to a server.
package struct ServerCounts: Sendable {
    /// Durations by the bounds of ``bounds``; each bucket is counted separately.
    package struct Durations: Sendable {
        /// Upper bounds in nanoseconds; the last bucket has none.
        package static let bounds: [UInt64] = [
            1_000_000, 5_000_000, 10_000_000, 25_000_000, 50_000_000, 100_000_000, 250_000_000, 500_000_000,
            1_000_000_000, 2_500_000_000, 5_000_000_000, 10_000_000_000,
        ]

        package private(set) var counts = [Int](repeating: 0, count: bounds.count + 1)
        /// The sum in nanoseconds.
        package private(set) var sum: UInt64 = 0

        mutating func add(_ duration: Duration) {
            let nanoseconds = UInt64(clamping: duration.nanoseconds)
            counts[Self.bounds.firstIndex { nanoseconds <= $0 } ?? Self.bounds.count] += 1
            sum &+= nanoseconds
        }
    }

    /// The wait of a read for a thread.
    package internal(set) var threadWait = Durations()
    /// The wait of a read for a connection.
    package internal(set) var connectionWait = Durations()
    /// The time from the begin of a write's transaction until it had the writers' lock.
    package internal(set) var lockWait = Durations()
    /// The time from then on until its end.
    package internal(set) var lockHeld = Durations()
    /// The wait for the answers of COMMIT.
    package internal(set) var commit = Durations()
    /// The transactions that were committed, and the writes in them.
    package internal(set) var batches = 0
    package internal(set) var writes = 0
    /// The connections that were opened again after they were lost.
    package internal(set) var reconnects = 0
    /// The commits whose outcome could not be found out.
    package internal(set) var inDoubt = 0
    /// The messages for whose answers the program has waited.
    package internal(set) var roundTrips = 0
}

/// The counters of a program's connections to a server, and its end; any thread may use them at any time.
final class ServerActivity: Sendable {
    private let ending = Atomic(false)

    /// Whether the program ends, so that it does not wait until a server can be reached again.
    var isEnding: Bool { ending.load(ordering: .relaxed) }

    func end() { ending.store(true, ordering: .relaxed) }

    private let counts = Lock(ServerCounts())

    /// The counts, without round trips.
    var snapshot: ServerCounts { counts.withLock { $0 } }

    func note(_ change: (inout ServerCounts) -> Void) { counts.withLock { change(&$0) } }

    func note(_ durations: WritableKeyPath<ServerCounts, ServerCounts.Durations> & Sendable, _ duration: Duration) {
        counts.withLock { $0[keyPath: durations].add(duration) }
    }
}
