import Basics
import Database
import MCAP

/// The tables of ``RecordingRecords``.
enum RecordingSchema {
    static let migration = Migration(
        name: "catalog-recordings",
        sql: """
            -- Recordings whose summary has not been read yet.
            CREATE TABLE unread_recordings (
                position INTEGER PRIMARY KEY REFERENCES objects (position) ON DELETE CASCADE
            ) STRICT;
            CREATE TABLE object_topics (
                position INTEGER NOT NULL REFERENCES objects (position) ON DELETE CASCADE,
                topic TEXT NOT NULL,
                PRIMARY KEY (position, topic)
            ) STRICT, WITHOUT ROWID;
            CREATE INDEX object_topics_by_topic ON object_topics (topic, position);
            INSERT INTO unread_recordings (position)
                SELECT position FROM objects WHERE lower(substr(name, -5)) = '.mcap' AND bad_at IS NULL;
            """)

    /// Lets organizations take turns.
    static let turnsMigration = Migration(
        name: "catalog-recordings-2",
        sql: """
            ALTER TABLE unread_recordings ADD COLUMN organization_id INTEGER NOT NULL DEFAULT 0;
            UPDATE unread_recordings SET organization_id =
                (SELECT o.organization_id FROM objects o WHERE o.position = unread_recordings.position);
            CREATE INDEX unread_recordings_by_organization ON unread_recordings (organization_id, position);
            """)
}

/// The number of topics in one statement.
private let batch = 100
/// The topics of an object in lists.
private let mostListed = 100

/// The SQL of recordings: those that have to be read, and the topics of the others.
struct RecordingRecords<C: ReadConnection> {
    let connection: C

    init(_ connection: C) {
        self.connection = connection
    }

    /// Adds a new object to those that have to be read.
    func enqueue(position: Int64, organizationID: Int64) throws where C == Connection {
        try connection.executeSoon(
            "INSERT INTO unread_recordings (position, organization_id) VALUES ($1, $2)", position, organizationID)
    }

    /// Returns the newest recording of an organization that has to be read, and its position.
    ///
    /// - Parameter last: the organization whose turn it was; the one with the next id follows, and after the last one the first.
    func next(afterOrganization last: Int64) throws -> (position: Int64, object: CatalogObject)? {
        for floor in [last, -1] {
            let found = try connection.first(
                """
                SELECT \(CatalogObject.columns) FROM unread_recordings r JOIN objects o ON o.position = r.position
                WHERE r.organization_id > $1 ORDER BY r.organization_id, r.position DESC LIMIT 1
                """, floor
            ) { ($0.int64("position"), CatalogObject($0)) }
            if let found { return found }
        }
        return nil
    }

    /// Records that a recording was read. Times that its client sent are kept.
    ///
    /// - Parameter summary: `nil` = nothing can be read of it.
    func finish(position: Int64, _ summary: MCAPSummary?) throws where C == Connection {
        // Nothing was queued if the object was deleted meanwhile.
        guard try connection.execute("DELETE FROM unread_recordings WHERE position = $1", position) > 0,
            let summary
        else { return }
        let listed = try connection.first(
            """
            UPDATE objects SET recorded_from = $2, recorded_to = $3
            WHERE position = $1 AND recorded_from IS NULL AND recorded_to IS NULL
            RETURNING position, organization_id, size, created_at, trashed_at
            """, position, summary.recordedFrom?.microseconds, summary.recordedTo?.microseconds
        ) { row in
            row.isNull("trashed_at") ? (object: ObjectPlace(row), at: row.time("created_at")) : nil
        }
        if let listed = listed ?? nil, let begin = summary.recordedFrom {
            try SearchRecords(connection).moveRecording(of: listed.object, from: listed.at, to: begin)
        }
        for start in stride(from: 0, to: summary.topics.count, by: batch) {
            let topics = summary.topics[start..<min(start + batch, summary.topics.count)]
            let rows = (0..<topics.count).map { "($1, $\($0 + 2))" }.joined(separator: ", ")
            try connection.execute(
                "INSERT INTO object_topics (position, topic) VALUES \(rows) ON CONFLICT DO NOTHING",
                arguments: [position] + topics.map { $0 as (any Bindable)? })
        }
    }

    /// Returns the first 100 topics of an object in alphabetical order.
    func topics(at position: Int64) throws -> [String] {
        try connection.query(
            "SELECT topic FROM object_topics WHERE position = $1 ORDER BY topic LIMIT $2", position, mostListed
        ) { $0.text("topic") }
    }

    /// Calls `body` with the position of each of some objects and one of its topics.
    func forEachTopic(
        at positions: [Int64], _ body: (Int64, String) -> Void
    ) throws {
        for position in positions {
            _ = try connection.query("SELECT topic FROM object_topics WHERE position = $1", position) {
                body(position, $0.text("topic"))
            }
        }
    }
}
