import Crypto
import Database

/// The record of the root key with which a database is used: one row.
enum RootKeyRecords {
    static let migration = Migration(
        name: "root-key-1",
        sql: """
            -- check_value: Keyring.checkValue of the root key with which this database is used.
            CREATE TABLE root_key (
                id INTEGER PRIMARY KEY CHECK (id = 1),
                check_value BLOB NOT NULL
            ) STRICT;
            """)

    /// Returns whether the keyring has the database's root key; `nil` if the database has no record, because it is new, or was last
    /// used by a version that kept none.
    static func matches(_ keyring: Keyring, in connection: ReadConnection) throws -> Bool? {
        try checkValue(in: connection).map { constantTimeEqual($0, keyring.checkValue) }
    }

    /// Returns `Keyring.checkValue` of the root key with which the database is used; `nil` if there is no record.
    static func checkValue(in connection: ReadConnection) throws -> [UInt8]? {
        try connection.first("SELECT check_value FROM root_key") { $0.blob("check_value") }
    }

    /// Whether the database has a record.
    static func exist(in connection: ReadConnection) throws -> Bool {
        try connection.hasRow("SELECT 1 FROM root_key")
    }

    /// Records the root key with which the database is used from now on.
    static func record(_ keyring: Keyring, in transaction: Connection) throws {
        try transaction.execute(
            """
            INSERT INTO root_key (id, check_value) VALUES (1, $1)
            ON CONFLICT (id) DO UPDATE SET check_value = excluded.check_value
            """, keyring.checkValue)
    }
}
