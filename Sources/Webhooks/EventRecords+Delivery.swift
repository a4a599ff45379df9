import Basics
import Database

private let delivery = """
    SELECT d.position, e.id, e.subject, e.payload, e.traceparent, d.attempts, d.first_failed_at
    FROM event_deliveries d JOIN events e ON e.position = d.position
    """

enum DeliveryEnd: Int64 {
    case delivered = 2
    case dead = 3
}

extension EventRecords {
    /// Returns the deliveries whose next attempt is due, in the order in which they became due.
    func due(for webhook: String, at now: UnixTime, limit: Int) throws -> [Delivery] {
        try connection.query(
            """
            \(delivery) WHERE d.webhook = $1 AND d.due_at <= $2 ORDER BY d.due_at, d.position LIMIT $3
            """, webhook, now.microseconds, limit
        ) { row in
            Delivery(
                position: row.int64("position"), eventID: row.text("id"), subject: row.text("subject"),
                payload: row.text("payload"),
                traceparent: row.optionalText("traceparent"), attempts: row.int("attempts"),
                firstFailedAt: row.optionalTime("first_failed_at"))
        }
    }

    /// Returns the next time after `now` at which a delivery becomes due.
    func nextDue(for webhook: String, after now: UnixTime) throws -> UnixTime? {
        try connection.first(
            "SELECT min(due_at) AS due_at FROM event_deliveries WHERE webhook = $1 AND due_at > $2", webhook,
            now.microseconds
        ) { $0.optionalTime("due_at") } ?? nil
    }

    /// Records the result of an attempt. A delivery that was ended meanwhile stays unchanged.
    func settle(_ delivery: Delivery, to webhook: String, _ outcome: DeliveryOutcome, at now: UnixTime) throws
    where C == Connection {
        switch outcome {
        case .delivered:
            try end(delivery.position, delivery.subject, webhook, .delivered, error: nil, at: now)
        case .dead(let reason):
            try countFailure(of: delivery, to: webhook, at: now)
            try end(delivery.position, delivery.subject, webhook, .dead, error: reason, at: now)
        case .retry(let due, let reason):
            try countFailure(of: delivery, to: webhook, at: now)
            try connection.execute(
                """
                UPDATE event_deliveries SET due_at = $3, last_error = $4
                WHERE position = $1 AND webhook = $2 AND state = 1
                """, delivery.position, webhook, due.microseconds, reason)
        }
    }

    private func countFailure(of delivery: Delivery, to webhook: String, at now: UnixTime) throws
    where C == Connection {
        try connection.execute(
            """
            UPDATE event_deliveries SET attempts = attempts + 1, first_failed_at = coalesce(first_failed_at, $3)
            WHERE position = $1 AND webhook = $2 AND state = 1
            """, delivery.position, webhook, now.microseconds)
    }

    /// Ends a waiting delivery, and makes the next one of its subject due.
    func end(
        _ position: Int64, _ subject: String, _ webhook: String, _ end: DeliveryEnd, error: String?, at now: UnixTime
    ) throws where C == Connection {
        let changed = try connection.execute(
            """
            UPDATE event_deliveries SET state = $3, due_at = NULL, ended_at = $4, last_error = $5
            WHERE position = $1 AND webhook = $2 AND state = 1
            """, position, webhook, end.rawValue, now.microseconds, error)
        guard changed > 0 else { return }
        try release(subject, webhook, at: now)
    }

    /// Makes the first waiting delivery of a subject due, unless it already is.
    func release(_ subject: String, _ webhook: String, at now: UnixTime) throws where C == Connection {
        try connection.execute(
            """
            UPDATE event_deliveries SET due_at = $3
            WHERE webhook = $1 AND state = 1
                AND position = (
                    SELECT min(position) FROM event_deliveries WHERE webhook = $1 AND subject = $2 AND state = 1)
                AND NOT EXISTS (
                    SELECT 1 FROM event_deliveries
                    WHERE webhook = $1 AND subject = $2 AND state = 1 AND due_at IS NOT NULL)
            """, webhook, subject, now.microseconds)
    }

    /// Returns the webhooks with waiting deliveries.
    func webhooksWithPending() throws -> [String] {
        try connection.query("SELECT DISTINCT webhook FROM event_deliveries WHERE state = 1") { $0.text("webhook") }
    }

    /// Makes the oldest waiting deliveries of a webhook dead letters.
    ///
    /// - Returns: the events' ids; fewer than `limit` if none is left.
    func giveUp(
        pendingFor webhook: String, limit: Int64, because reason: String, at now: UnixTime
    ) throws -> [String] where C == Connection {
        let oldest = try connection.query(
            """
            SELECT d.position, d.subject, e.id
            FROM event_deliveries d JOIN events e ON e.position = d.position
            WHERE d.state = 1 AND d.webhook = $1 ORDER BY d.position LIMIT $2
            """, webhook, limit
        ) { ($0.int64("position"), $0.text("subject"), $0.text("id")) }
        for (position, subject, _) in oldest { try end(position, subject, webhook, .dead, error: reason, at: now) }
        return oldest.map(\.2)
    }
}
