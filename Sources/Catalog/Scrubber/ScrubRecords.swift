import Basics
import Database

/// The scrubber's position in its current pass.
struct ScrubState: Sendable, Hashable {
    /// The position of the last object that was read; 0 = none yet.
    var position: Int64
    /// The start of this pass.
    var startedAt: UnixTime
}

/// The tables of ``ScrubRecords``.
enum ScrubSchema {
    static let migration = Migration(
        name: "catalog-scrub",
        sql: """
            -- One row at most.
            CREATE TABLE scrub_state (
                id INTEGER PRIMARY KEY CHECK (id = 1),
                position INTEGER NOT NULL,
                started_at INTEGER NOT NULL
            ) STRICT;
            """)
}

/// The SQL of scrubbing.
struct ScrubRecords<C: ReadConnection> {
    let connection: C

    init(_ connection: C) {
        self.connection = connection
    }

    /// Returns `nil` before the first pass.
    func state() throws -> ScrubState? {
        try connection.first("SELECT position, started_at FROM scrub_state") {
            ScrubState(position: $0.int64("position"), startedAt: $0.time("started_at"))
        }
    }

    func setState(_ state: ScrubState) throws where C == Connection {
        try connection.execute(
            """
            INSERT INTO scrub_state (id, position, started_at) VALUES (1, $1, $2)
            ON CONFLICT (id) DO UPDATE SET position = excluded.position, started_at = excluded.started_at
            """, state.position, state.startedAt.microseconds)
    }

    /// Returns the first object after the position.
    func next(after position: Int64) throws -> (position: Int64, object: CatalogObject)? {
        try connection.first(
            "SELECT \(CatalogObject.columns) FROM objects o WHERE o.position > $1 ORDER BY o.position LIMIT 1", position
        ) { ($0.int64("position"), CatalogObject($0)) }
    }

    /// - Returns: whether the object exists and its mark changed.
    func mark(_ object: CatalogObject, isBad: Bool, at now: UnixTime) throws -> Bool where C == Connection {
        try connection.execute(
            """
            UPDATE objects SET bad_at = $2 WHERE id = $1 AND (CASE WHEN bad_at IS NULL THEN 1 ELSE 0 END) = CAST($3 AS BIGINT)
            """, object.id, isBad ? now.microseconds : nil, isBad) > 0
    }

    func countBad() throws -> Int {
        try connection.first("SELECT count(*) AS bad FROM objects WHERE bad_at IS NOT NULL AND trashed_at IS NULL") {
            $0.int("bad")
        } ?? 0
    }
}
