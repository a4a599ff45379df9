import Basics
import GRPCWire
import Synchronization

/// The counters of one method's calls at a listener; read at any time, by any thread.
package final class MethodMetrics: Sendable {
    /// A copy of all counters.
    package struct Snapshot: Sendable {
        package var started = 0
        /// The number of ended calls by the number of their status.
        package var ended = [Int](repeating: 0, count: StatusCode.allCases.count)
        package var messagesReceived = 0
        package var messagesSent = 0
        package var durations = Histogram()
    }

    private let counts = Lock(Snapshot())
    private let startedCalls = Atomic<Int>(0)

    init() {}

    package var snapshot: Snapshot {
        var snapshot = counts.withLock { $0 }
        snapshot.started = startedCalls.load(ordering: .relaxed)
        return snapshot
    }

    func started() { startedCalls.add(1, ordering: .relaxed) }

    func ended(_ status: StatusCode, _ traffic: CallTraffic) {
        counts.withLock { counts in
            counts.ended[status.rawValue] += 1
            counts.messagesReceived += traffic.messagesReceived
            counts.messagesSent += traffic.messagesSent
            counts.durations.add(nanoseconds: traffic.duration)
        }
    }
}

/// A histogram of durations with Prometheus' upper bounds; each bucket is counted separately.
package struct Histogram: Sendable, Hashable {
    /// Upper bounds in seconds, as they are written: the defaults of Prometheus' clients, and a smaller one for responses from
    /// memory.
    package static let bounds = [
        "0.001", "0.005", "0.01", "0.025", "0.05", "0.1", "0.25", "0.5", "1", "2.5", "5", "10",
    ]
    private static let nanoseconds: [UInt64] = [
        1_000_000, 5_000_000, 10_000_000, 25_000_000, 50_000_000, 100_000_000, 250_000_000, 500_000_000,
        1_000_000_000, 2_500_000_000, 5_000_000_000, 10_000_000_000,
    ]

    /// The numbers of durations within the bound of the same index and above the previous one; the last bucket has no bound.
    package private(set) var counts = [Int](repeating: 0, count: bounds.count + 1)
    /// The sum of the durations, in nanoseconds.
    package private(set) var sum: UInt64 = 0

    package init() {}

    /// - Parameters:
    ///   - counts: as the property.
    ///   - sum: in nanoseconds.
    package init(counts: [Int], sum: UInt64) {
        precondition(counts.count == Self.bounds.count + 1, "A histogram has a bucket for each bound, and one more.")
        (self.counts, self.sum) = (counts, sum)
    }

    package var count: Int { counts.reduce(0, +) }

    package mutating func add(nanoseconds duration: UInt64) {
        // Not by `firstIndex`: a debug build would allocate memory for it, and the test that counts allocations uses such a build.
        var place = 0
        while place < Self.nanoseconds.count, duration > Self.nanoseconds[place] { place += 1 }
        counts[place] += 1
        sum &+= duration
    }
}
