import Basics
import Database

extension StoreSchema {
    static let pauseMigration = Migration(
        name: "store-pauses",
        sql: """
            -- Readers of all files, such as backups: until ends_at, by the database's clock, no gateway removes a file.
            CREATE TABLE store_pauses (
                id TEXT PRIMARY KEY,
                ends_at INTEGER NOT NULL
            ) STRICT, WITHOUT ROWID;
            """,
        postgres: """
            CREATE TABLE store_pauses (id TEXT COLLATE "C" PRIMARY KEY, ends_at BIGINT NOT NULL);
            """, compatibility: .expanding)
}

/// The pauses of the removal of files.
extension StoreRecords {
    /// Begins a pause, or extends it.
    func pauseRemovals(_ id: String, until end: UnixTime) throws where C == Connection {
        try connection.execute(
            """
            INSERT INTO store_pauses (id, ends_at) VALUES ($1, $2)
            ON CONFLICT (id) DO UPDATE SET ends_at = excluded.ends_at
            """, id, end.microseconds)
    }

    /// Ends a pause, and deletes those that ended before `now`.
    func endPause(_ id: String, at now: UnixTime) throws where C == Connection {
        try connection.execute("DELETE FROM store_pauses WHERE id = $1 OR ends_at <= $2", id, now.microseconds)
    }

    func isPaused(at now: UnixTime) throws -> Bool {
        try connection.hasRow("SELECT 1 FROM store_pauses WHERE ends_at > $1", now.microseconds)
    }
}
