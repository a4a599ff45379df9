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
