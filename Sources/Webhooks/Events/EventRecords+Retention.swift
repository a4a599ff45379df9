import Basics
import Database

/// The length of a webhook's queue.
struct QueueLength: Sendable, Hashable {
    var pending: Int64 = 0
    var dead: Int64 = 0
    /// The time of the oldest waiting event.
    var oldestPendingAt: UnixTime?
}

extension EventRecords {
    /// Returns the length of the queue, from the indexes and one row.
    func queueLength(of webhook: String) throws -> QueueLength {
        let (pending, oldest) =
            try connection.first(
                "SELECT count(*) AS pending, min(position) AS oldest FROM event_deliveries WHERE state = 1 AND webhook = $1",
                webhook
            ) { ($0.int64("pending"), $0.optionalInt64("oldest")) } ?? (0, nil)
        let dead =
            try connection.first(
                "SELECT count(*) AS dead FROM event_deliveries WHERE state = 3 AND webhook = $1", webhook
            ) {
                $0.int64("dead")
            } ?? 0
        let oldestAt = try oldest.flatMap { oldest in
            try connection.first("SELECT occurred_at FROM events WHERE position = $1", oldest) {
                $0.time("occurred_at")
            }
        }
        return QueueLength(pending: pending, dead: dead, oldestPendingAt: oldestAt)
    }

    /// Returns the number of the oldest deliveries that are beyond a maximum, by organization: an organization with few of them keeps
    /// all, and those with more keep equally many.
    ///
    /// - Parameter state: 1 = waiting deliveries, 3 = dead letters.
    func excess(
        of webhook: String, state: Int64, count: Int64, bytes: Int64
    ) throws -> [(organizationID: Int64, count: Int64)] {
        let whole = try connection.first(
            """
            SELECT count(*) AS count, coalesce(sum(bytes), 0) AS bytes FROM event_deliveries
            WHERE webhook = $1 AND state = $2 AND state <> 2
            """, webhook, state
        ) { (count: $0.int64("count"), bytes: $0.int64("bytes")) }
        guard let whole, whole.count > count || whole.bytes > bytes else { return [] }
        let shares = try connection.query(
            """
            SELECT organization_id, count(*) AS count, sum(bytes) AS bytes FROM event_deliveries
            WHERE webhook = $1 AND state = $2 AND state <> 2 GROUP BY organization_id
            """, webhook, state
        ) { (organizationID: $0.int64("organization_id"), count: $0.int64("count"), bytes: $0.int64("bytes")) }
        let most = FairLevel.level(of: shares.map(\.count), in: count)
        let mostBytes = FairLevel.level(of: shares.map(\.bytes), in: bytes)
        return try shares.compactMap { share in
            let large =
                share.bytes > mostBytes
                ? try excess(of: webhook, state: state, organizationID: share.organizationID, bytes: mostBytes) : 0
            let excess = max(share.count - most, large)
            return excess > 0 ? (share.organizationID, excess) : nil
        }
    }

    /// Returns the number of an organization's oldest deliveries beyond `bytes`.
    private func excess(of webhook: String, state: Int64, organizationID: Int64, bytes: Int64) throws -> Int64 {
        try connection.first(
            """
            SELECT count(*) AS excess FROM (
                SELECT sum(bytes) OVER (ORDER BY position DESC ROWS UNBOUNDED PRECEDING) AS total
                FROM event_deliveries WHERE webhook = $1 AND state = $2 AND state <> 2 AND organization_id = $4
            ) totals WHERE total > CAST($3 AS BIGINT)
            """, webhook, state, bytes, organizationID
        ) { $0.int64("excess") } ?? 0
    }

    /// Removes deliveries that ended at least `age` ago, the oldest first.
    ///
    /// - Returns: the number of removed deliveries; fewer than `limit` if none is left.
    func forget(_ end: DeliveryEnd, olderThan age: Duration, _ permit: DeletionPermit, limit: Int) throws -> Int
    where C == Connection {
        let oldest = try permit.now().subtracting(age)
        return try forget(
            connection.query(
                """
                SELECT position, webhook FROM event_deliveries
                WHERE state = $1 AND state <> 1 AND \(permit.isBefore("ended_at", "$2")) ORDER BY ended_at LIMIT $3
                """, end.rawValue, oldest.microseconds, limit
            ) { ($0.int64("position"), $0.text("webhook")) })
    }

    /// Removes the oldest dead letters of an organization at a webhook.
    func forgetDeadLetters(of webhook: String, organizationID: Int64, limit: Int64) throws -> Int
    where C == Connection {
        try forget(
            connection.query(
                """
                SELECT position, webhook FROM event_deliveries
                WHERE state = 3 AND webhook = $1 AND organization_id = $3 ORDER BY position LIMIT $2
                """, webhook, limit, organizationID
            ) { ($0.int64("position"), $0.text("webhook")) })
    }

    /// Removes deliveries, and each event with its last delivery.
    private func forget(_ deliveries: [(position: Int64, webhook: String)]) throws -> Int where C == Connection {
        for (position, webhook) in deliveries {
            try connection.execute(
                "DELETE FROM event_deliveries WHERE position = $1 AND webhook = $2", position, webhook)
            try connection.execute(
                """
                DELETE FROM events
                WHERE position = $1 AND NOT EXISTS (SELECT 1 FROM event_deliveries WHERE position = $1)
                """, position)
        }
        return deliveries.count
    }
}

/// The level at which demands are cut so that they fit into a capacity: whoever demands less keeps all, and the others keep the same.
enum FairLevel {
    /// Returns the largest level for which the sum of all demands, each at most the level, is at most `capacity`.
    static func level(of demands: some Sequence<Int64>, in capacity: Int64) -> Int64 {
        var rest = capacity
        let ascending = demands.sorted()
        for (index, demand) in ascending.enumerated() {
            let share = rest / Int64(ascending.count - index)
            guard demand <= share else { return share }
            rest -= demand
        }
        return .max
    }
}
