import Basics
import Database

/// The rows of ``KeptResponses``.
struct KeptResponseRecords<C: ReadConnection> {
    private let connection: C

    init(_ connection: C) {
        self.connection = connection
    }

    /// Returns the sealed response to a call; `nil` = it was not executed, or is forgotten.
    func find(_ call: CallName, at now: UnixTime) throws -> [UInt8]? {
        try connection.first(
            "SELECT response FROM kept_responses WHERE call_id = $1 AND method = $2 AND expires_at > $3",
            call.id, call.method, now.microseconds
        ) { $0.blob("response") }
    }

    /// - Throws: a violation of the table's key if another gateway has executed the call.
    func insert(_ call: CallName, _ sealed: [UInt8], until end: UnixTime) throws where C == Connection {
        try connection.execute(
            "INSERT INTO kept_responses (call_id, method, response, expires_at) VALUES ($1, $2, $3, $4)",
            call.id, call.method, sealed, end.microseconds)
    }

    /// Deletes responses that nobody may ask for any more.
    ///
    /// - Returns: the number of deleted rows.
    func deleteExpired(limit: Int, _ permit: DeletionPermit) throws -> Int where C == Connection {
        try connection.execute(
            """
            DELETE FROM kept_responses WHERE (call_id, method) IN (
                SELECT call_id, method FROM kept_responses WHERE expires_at <= $1 ORDER BY expires_at LIMIT $2
            )
            """, try permit.now().microseconds, limit)
    }
}

enum KeptResponseSchema {
    static let migration = Migration(
        name: "accounts-kept-responses",
        sql: """
            -- Responses to calls that a balancer may send again, sealed; deleted after a minute.
            CREATE TABLE kept_responses (
                call_id TEXT NOT NULL,
                method TEXT NOT NULL,
                response BLOB NOT NULL,
                expires_at INTEGER NOT NULL,
                PRIMARY KEY (call_id, method)
            ) STRICT, WITHOUT ROWID;
            CREATE INDEX kept_responses_by_end ON kept_responses (expires_at);
            """,
        postgres: """
            CREATE TABLE kept_responses (
                call_id TEXT COLLATE "C" NOT NULL,
                method TEXT COLLATE "C" NOT NULL,
                response BYTEA NOT NULL,
                expires_at BIGINT NOT NULL,
                PRIMARY KEY (call_id, method)
            );
            CREATE INDEX kept_responses_by_end ON kept_responses (expires_at);
            """, compatibility: .expanding)
}
