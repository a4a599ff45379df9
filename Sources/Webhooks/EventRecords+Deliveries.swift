import Accounts
import Basics
import Database
import Proto

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
