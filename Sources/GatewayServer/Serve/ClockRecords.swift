import Accounts
import Basics
import Database

/// The record of a ``ClockGuard`` across restarts: one row.
struct ClockRecords {
    static let migrations = [
        Migration(
            name: "clock-1",
            sql: """
                -- What was seen of the clock: JSON, for the gateway alone.
                CREATE TABLE clock (
                    id INTEGER PRIMARY KEY CHECK (id = 1),
                    history BLOB NOT NULL
                ) STRICT;
                """)
    ]

    let connection: Connection

    init(_ connection: Connection) {
        self.connection = connection
    }

    func history() throws -> [UInt8]? {
        try connection.first("SELECT history FROM clock") { $0.blob("history") }
    }

    func save(_ history: [UInt8]) throws {
        try connection.execute(
            "INSERT INTO clock (id, history) VALUES (1, $1) ON CONFLICT (id) DO UPDATE SET history = excluded.history",
            history)
    }
}
