import Basics
import Database

/// What became of events, by webhook; read at any time, by any thread.
package final class EventMetrics: Sendable {
    /// Since the start, but for `pending`, `dead` and `oldestPendingSeconds`, which are as they are now.
    package struct Counts: Sendable, Hashable {
        package var delivered = 0
        /// Attempts, those among them that were the last.
        package var failed = 0
        package var pending = 0
        package var dead = 0
        /// Since the oldest event happened that waits; 0 = none waits.
        package var oldestPendingSeconds = 0
    }

    private let database: Database
    private let clock: any WallClock
    private let counts: Lock<[String: Counts]>

    init(webhooks: [String], database: Database, clock: any WallClock) {
        self.database = database
        self.clock = clock
        counts = Lock(Dictionary(uniqueKeysWithValues: webhooks.map { ($0, Counts()) }))
    }

    func note(_ outcome: DeliveryOutcome, of webhook: String) {
        counts.withLock { counts in
            switch outcome {
            case .delivered: counts[webhook]?.delivered += 1
            case .retry, .dead: counts[webhook]?.failed += 1
            }
        }
    }

    /// By the webhooks' names, in their order. Counts the queues; where that cannot be done they are 0.
    package var snapshot: [(webhook: String, counts: Counts)] {
        let now = clock.now()
        return counts.withLock { $0 }.sorted { $0.key < $1.key }.map { webhook, counts in
            guard let queue = try? database.readBlocking({ try EventRecords($0).queueLength(of: webhook) }) else {
                return (webhook, counts)
            }
            var counts = counts
            counts.pending = Int(queue.pending)
            counts.dead = Int(queue.dead)
            counts.oldestPendingSeconds = queue.oldestPendingAt.map { Int(max(0, now.seconds - $0.seconds)) } ?? 0
            return (webhook, counts)
        }
    }
}
