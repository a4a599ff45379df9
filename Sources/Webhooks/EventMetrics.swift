import Basics
import Database

/// What became of events, by webhook; read at any time, by any thread.
package final class EventMetrics: Sendable {
    /// What waits for a webhook now.
    package struct Queue: Sendable, Hashable {
        package var pending: Int
        /// Dead letters.
        package var dead: Int
        /// Since the oldest event happened that waits; 0 = none waits.
        package var oldestPendingSeconds: Int
    }

    /// Since the start, but for the queue.
    package struct Counts: Sendable, Hashable {
        package var delivered = 0
        /// Attempts, those among them that were the last.
        package var failed = 0
        /// `nil` where the database does not say.
        package var queue: Queue?
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

    /// By the webhooks' names, in their order. Counts the queues.
    package var snapshot: [(webhook: String, counts: Counts)] {
        let now = clock.now()
        return counts.withLock { $0 }.sorted { $0.key < $1.key }.map { webhook, counts in
            var counts = counts
            if let length = try? database.readBlocking({ try EventRecords($0).queueLength(of: webhook) }) {
                counts.queue = Queue(
                    pending: Int(length.pending), dead: Int(length.dead),
                    oldestPendingSeconds: length.oldestPendingAt.map { Int(max(0, now.seconds - $0.seconds)) } ?? 0)
            }
            return (webhook, counts)
        }
    }
}
