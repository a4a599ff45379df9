import Accounts
import Basics
import Database

/// The tables of ``ClockRecords``.
enum ClockSchema {
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
}

/// The record of a ``ClockGuard`` across restarts: one row.
struct ClockRecords<C: ReadConnection> {
    let connection: C

    init(_ connection: C) {
        self.connection = connection
    }

    func history() throws -> [UInt8]? {
        try connection.first("SELECT history FROM clock") { $0.blob("history") }
    }

    func save(_ history: [UInt8]) throws where C == Connection {
        try connection.execute(
            "INSERT INTO clock (id, history) VALUES (1, $1) ON CONFLICT (id) DO UPDATE SET history = excluded.history",
            history)
    }
}
