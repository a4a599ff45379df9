import Basics
import Database

/// An event that could not be delivered to one webhook within the time for retries.
struct DeadLetterRecord: Sendable, Hashable {
    let position: Int64
    let eventID: String
    let webhook: String
    let type: String
    let subject: String
    let organization: String
    let occurredAt: UnixTime
    let attempts: Int
    let givenUpAt: UnixTime
    let lastError: String
    let payload: String

    /// The cursor of a list that continues after it.
    var cursor: String { "\(position) \(webhook)" }
}

private let deadLetterSelect = """
    SELECT d.position, e.id, d.webhook, e.type, e.subject, e.organization, e.occurred_at, d.attempts, d.ended_at,
        d.last_error, e.payload
    FROM event_deliveries d JOIN events e ON e.position = d.position
    """

extension EventRecords {
    /// Returns dead letters in the order of their events.
    ///
    /// - Parameters:
    ///   - scope: the events' organization; `nil` = any.
    ///   - webhook: empty = all.
    ///   - cursor: the cursor of the previous entry; empty = from the beginning.
    func deadLetters(
        scope: Int64?, webhook: String, after cursor: String, limit: PageLimit
    ) throws -> PageRows<DeadLetterRecord> {
        let halves = cursor.split(separator: " ", maxSplits: 1)
        let position = halves.first.flatMap { Int64($0) } ?? 0
        return try connection.page(
            limit,
            """
            \(deadLetterSelect)
            WHERE d.state = 3 AND (d.position, d.webhook) > ($1, $2)
                AND e.organization_id = coalesce($3, e.organization_id) AND ($4 = '' OR d.webhook = $4)
            ORDER BY d.position, d.webhook LIMIT $5
            """, position, halves.count > 1 ? String(halves[1]) : "", scope, webhook, limit.statementRows,
            row: Self.deadLetter)
    }

    /// Returns the dead letters of one event.
    func deadLetters(of eventID: String, scope: Int64?, webhook: String) throws -> [DeadLetterRecord] {
        try connection.query(
            """
            \(deadLetterSelect)
            WHERE e.id = $1 AND d.state = 3
                AND e.organization_id = coalesce($2, e.organization_id) AND ($3 = '' OR d.webhook = $3)
            ORDER BY d.webhook
            """, eventID, scope, webhook, row: Self.deadLetter)
    }

    /// Returns a dead letter to the queue, at its place among the waiting events of its subject.
    func revive(_ letter: DeadLetterRecord, at now: UnixTime) throws where C == Connection {
        try connection.execute(
            """
            UPDATE event_deliveries
            SET state = 1, attempts = 0, first_failed_at = NULL, ended_at = NULL, last_error = NULL
            WHERE position = $1 AND webhook = $2 AND state = 3
            """, letter.position, letter.webhook)
        try release(letter.subject, letter.webhook, at: now)
    }

    private static func deadLetter(_ row: Row) -> DeadLetterRecord {
        DeadLetterRecord(
            position: row.int64("position"), eventID: row.text("id"), webhook: row.text("webhook"),
            type: row.text("type"), subject: row.text("subject"),
            organization: row.text("organization"), occurredAt: row.time("occurred_at"), attempts: row.int("attempts"),
            givenUpAt: row.time("ended_at"),
            lastError: row.text("last_error"), payload: row.text("payload"))
    }
}
