import Basics
import Database

/// The tables of ``EventRecords``.
enum EventSchema {
    static let migrations = [
        Migration(
            name: "events-1",
            sql: """
                -- What happened, once for all webhooks. payload: the body that is sent.
                CREATE TABLE events (
                    position INTEGER PRIMARY KEY AUTOINCREMENT,
                    id TEXT NOT NULL UNIQUE,
                    type TEXT NOT NULL,
                    subject TEXT NOT NULL,
                    organization_id INTEGER NOT NULL,
                    organization TEXT NOT NULL,
                    occurred_at INTEGER NOT NULL,
                    payload TEXT NOT NULL,
                    traceparent TEXT
                ) STRICT;

                -- state: 1 pending, 2 delivered, 3 dead. due_at: when the next attempt may begin; NULL where none is to
                -- come, or an earlier event of the subject goes before. attempts: those that failed.
                CREATE TABLE event_deliveries (
                    position INTEGER NOT NULL REFERENCES events (position),
                    webhook TEXT NOT NULL,
                    subject TEXT NOT NULL,
                    state INTEGER NOT NULL,
                    due_at INTEGER,
                    attempts INTEGER NOT NULL DEFAULT 0,
                    first_failed_at INTEGER,
                    last_error TEXT,
                    ended_at INTEGER,
                    PRIMARY KEY (position, webhook)
                ) STRICT, WITHOUT ROWID;
                CREATE INDEX event_deliveries_due ON event_deliveries (webhook, due_at) WHERE due_at IS NOT NULL;
                CREATE INDEX event_deliveries_pending ON event_deliveries (webhook, subject, position) WHERE state = 1;
                CREATE INDEX event_deliveries_by_age ON event_deliveries (webhook, position) WHERE state = 1;
                CREATE INDEX event_deliveries_dead ON event_deliveries (webhook, position) WHERE state = 3;
                CREATE INDEX event_deliveries_ended ON event_deliveries (state, ended_at) WHERE state <> 1;
                """),
        Migration(
            name: "events-2",
            sql: """
                -- bytes: of the event's payload.
                ALTER TABLE event_deliveries ADD COLUMN bytes INTEGER NOT NULL DEFAULT 0;
                UPDATE event_deliveries SET bytes = coalesce(
                    (SELECT length(CAST(payload AS BLOB)) FROM events e WHERE e.position = event_deliveries.position), 0)
                WHERE state <> 2;
                CREATE INDEX event_deliveries_by_bytes ON event_deliveries (webhook, state, position, bytes)
                    WHERE state <> 2;
                """),
        Migration(
            name: "events-3",
            sql: """
                -- organization_id: of the event, so that organizations take turns.
                ALTER TABLE event_deliveries ADD COLUMN organization_id INTEGER NOT NULL DEFAULT 0;
                UPDATE event_deliveries SET organization_id = coalesce(
                    (SELECT organization_id FROM events e WHERE e.position = event_deliveries.position), 0)
                WHERE state <> 2;
                DROP INDEX event_deliveries_due;
                CREATE INDEX event_deliveries_due ON event_deliveries (webhook, organization_id, due_at)
                    WHERE due_at IS NOT NULL;
                """),
    ]
}

/// The SQL of the outbox; the state of deliveries is in `EventRecords+Delivery.swift`, dead letters are in
/// `EventRecords+DeadLetters.swift`. Times are microseconds since 1970.
///
/// Among the waiting deliveries of one subject to one webhook only the earliest has a `due_at`. So events of a subject stay in
/// order, and deliveries that are held back cost nothing meanwhile.
struct EventRecords<C: ReadConnection> {
    let connection: C

    init(_ connection: C) {
        self.connection = connection
    }

    func insert(
        _ event: Event, id: String, organization: String, payload: String, for webhooks: [String], at now: UnixTime
    ) throws where C == Connection {
        let position = try connection.first(
            """
            INSERT INTO events (id, type, subject, organization_id, organization, occurred_at, payload, traceparent)
            VALUES ($1, $2, $3, $4, $5, $6, $7, $8) RETURNING position
            """, id, event.type.rawValue, event.subject, event.organizationID, organization, now.microseconds, payload,
            event.traceparent
        ) { $0.int64("position") }
        for webhook in webhooks {
            try connection.executeSoon(
                """
                INSERT INTO event_deliveries (position, webhook, subject, state, bytes, organization_id, due_at)
                SELECT $1, $2, $3, 1, $5, $6, CASE WHEN EXISTS (
                    SELECT 1 FROM event_deliveries WHERE webhook = $2 AND subject = $3 AND state = 1
                ) THEN NULL ELSE CAST($4 AS BIGINT) END
                """, position, webhook, event.subject, now.microseconds, payload.utf8.count, event.organizationID)
        }
    }
}
