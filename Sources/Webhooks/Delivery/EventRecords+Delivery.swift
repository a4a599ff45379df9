import Accounts
import Basics
import Database
import Proto

enum DeliveryEnd: Int64 {
    case delivered = 2
    case dead = 3
}

extension EventRecords {
    /// Returns the deliveries that may begin now, by the turns of their organizations.
    func due(for webhook: String, at now: UnixTime, turns: OrganizationTurns, limit: Int) throws -> DueDeliveries {
        var round = OrganizationTurns.Round(turns, limit: limit)
        while let range = round.unseen {
            guard let organization = try organization(after: range.after, through: range.through, for: webhook) else {
                round.wrap()
                continue
            }
            // Those in progress are still due, and maybe before all others.
            let known = turns.inProgress(of: organization)
            let waiting = try connection.query(
                """
                SELECT position, due_at FROM event_deliveries
                WHERE webhook = $1 AND organization_id = $2 AND due_at IS NOT NULL ORDER BY due_at, position LIMIT $3
                """, webhook, organization, known + limit + 1
            ) { (position: $0.int64("position"), dueAt: $0.time("due_at")) }
            round.add(
                organization, due: waiting.prefix { $0.dueAt <= now }.map(\.position),
                next: waiting.first { $0.dueAt > now }?.dueAt)
        }
        return DueDeliveries(
            deliveries: try round.chosen.compactMap { try delivery($0, for: webhook) }, nextDueAt: round.nextDueAt)
    }

    /// Returns the organization with the lowest id in a range that has a waiting delivery.
    private func organization(after: Int64, through: Int64, for webhook: String) throws -> Int64? {
        try connection.first(
            """
            SELECT organization_id FROM event_deliveries
            WHERE webhook = $1 AND organization_id > $2 AND organization_id <= $3 AND due_at IS NOT NULL
            ORDER BY organization_id LIMIT 1
            """, webhook, after, through
        ) { $0.int64("organization_id") }
    }

    private func delivery(_ position: Int64, for webhook: String) throws -> Delivery? {
        try connection.first(
            """
            SELECT d.organization_id, e.id, e.subject, e.payload, e.traceparent, d.attempts, d.first_failed_at
            FROM event_deliveries d JOIN events e ON e.position = d.position WHERE d.position = $1 AND d.webhook = $2
            """, position, webhook
        ) { row in
            Delivery(
                position: position, organizationID: row.int64("organization_id"), eventID: row.text("id"),
                subject: row.text("subject"), payload: row.text("payload"),
                traceparent: row.optionalText("traceparent"), attempts: row.int("attempts"),
                firstFailedAt: row.optionalTime("first_failed_at"))
        }
    }

    /// Records the result of an attempt. A delivery that was ended meanwhile stays unchanged.
    func record(_ result: DeliveryResult) throws where C == Connection {
        let (delivery, webhook, now) = (result.delivery, result.webhook, result.time)
        switch result.outcome {
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

    /// Makes waiting deliveries due now, those of one organization after those of another.
    ///
    /// - Returns: their number.
    func makeDue(webhook: String, at now: UnixTime, limit: Int) throws -> Int where C == Connection {
        try connection.execute(
            """
            UPDATE event_deliveries SET due_at = $2
            WHERE webhook = $1 AND position IN (
                SELECT position FROM event_deliveries WHERE webhook = $1 AND due_at IS NOT NULL AND due_at > $2
                ORDER BY organization_id, due_at, position LIMIT $3)
            """, webhook, now.microseconds, limit)
    }

    /// Returns the webhooks with waiting deliveries.
    func webhooksWithPending() throws -> [String] {
        try connection.query("SELECT DISTINCT webhook FROM event_deliveries WHERE state = 1") { $0.text("webhook") }
    }

    /// Makes the oldest waiting deliveries of a webhook dead letters.
    ///
    /// - Parameter organizationID: of the events; `nil` = any.
    /// - Returns: the events' ids; fewer than `limit` if none is left.
    func giveUp(
        pendingFor webhook: String, of organizationID: Int64? = nil, limit: Int64, because reason: String,
        at now: UnixTime
    ) throws -> [String] where C == Connection {
        let oldest = try connection.query(
            """
            SELECT d.position, d.subject, e.id
            FROM event_deliveries d JOIN events e ON e.position = d.position
            WHERE d.state = 1 AND d.webhook = $1 AND d.organization_id = coalesce($3, d.organization_id)
            ORDER BY d.position LIMIT $2
            """, webhook, limit, organizationID
        ) { ($0.int64("position"), $0.text("subject"), $0.text("id")) }
        for (position, subject, _) in oldest { try end(position, subject, webhook, .dead, error: reason, at: now) }
        return oldest.map(\.2)
    }
}

/// A row of `event_deliveries`, with its event.
struct DeliveryRecord: Sendable {
    /// The event's position.
    let position: Int64
    let message: EventDelivery
}

extension EventRecords {
    /// Returns deliveries to a webhook, newest event first.
    ///
    /// - Parameters:
    ///   - scope: the events' organization; `nil` = any.
    ///   - position: the event's position before which the list begins.
    func deliveries(
        webhook: String, scope: Int64?, before position: Int64, limit: PageLimit
    ) throws -> PageRows<DeliveryRecord> {
        try connection.page(
            limit,
            """
            SELECT d.position, d.state, d.due_at, d.attempts, d.last_error, d.ended_at, e.id, e.type, e.subject,
                e.organization, e.occurred_at
            FROM events e JOIN event_deliveries d ON d.position = e.position AND d.webhook = $1
            WHERE e.position < $2 AND e.organization_id = coalesce($3, e.organization_id)
            ORDER BY e.position DESC LIMIT $4
            """, webhook, position, scope, limit.statementRows
        ) { row in
            DeliveryRecord(
                position: row.int64("position"),
                message: EventDelivery(
                    eventID: row.text("id"), type: row.text("type"), subject: row.text("subject"),
                    organization: row.text("organization"), occurredAt: Timestamp(row.time("occurred_at")),
                    state: DeliveryState(rawValue: Int32(clamping: row.int64("state"))),
                    failedAttempts: Int32(clamping: row.int64("attempts")),
                    dueAt: row.optionalTime("due_at").map { Timestamp($0) },
                    endedAt: row.optionalTime("ended_at").map { Timestamp($0) },
                    lastError: row.optionalText("last_error") ?? ""))
        }
    }
}
