import Basics
import Database

/// A session of the console, as a row.
struct ConsoleSessionRecord: Sendable {
    /// The digest of the browser's cookie.
    let digest: [UInt8]
    /// The session of the user, whose end is also the end of this one.
    let sessionID: String
    let userID: Int64
    /// The digest of the token that the page's scripts send.
    let tokenDigest: [UInt8]
    /// The user and their tokens, encrypted.
    let sealed: [UInt8]
    let beganAt: UnixTime
    let lastUsedAt: UnixTime
}

/// The tables of ``ConsoleSessionRecords``.
enum ConsoleSessionSchema {
    static let migrations = [
        Migration(
            name: "console-1",
            sql: """
                -- digest: of the cookie. sealed: the user and their tokens, encrypted.
                CREATE TABLE console_sessions (
                    digest BLOB PRIMARY KEY,
                    session_id TEXT NOT NULL UNIQUE REFERENCES sessions (id) ON DELETE CASCADE,
                    user_id INTEGER NOT NULL REFERENCES users (id) ON DELETE CASCADE,
                    token_digest BLOB NOT NULL,
                    sealed BLOB NOT NULL,
                    began_at INTEGER NOT NULL,
                    last_used_at INTEGER NOT NULL
                ) STRICT;
                CREATE INDEX console_sessions_user ON console_sessions (user_id, began_at);
                CREATE INDEX console_sessions_use ON console_sessions (last_used_at);
                CREATE INDEX console_sessions_begin ON console_sessions (began_at);
                """),
        Migration(
            name: "console-2",
            sql: """
                -- The download that a session's page has requested, until the browser fetches it. sealed: what it is, encrypted under
                -- the text of its address.
                CREATE TABLE console_tickets (
                    session BLOB PRIMARY KEY REFERENCES console_sessions (digest) ON DELETE CASCADE,
                    sealed BLOB NOT NULL
                ) STRICT;
                """,
            postgres: """
                CREATE TABLE console_tickets (
                    session BYTEA PRIMARY KEY REFERENCES console_sessions (digest) ON DELETE CASCADE,
                    sealed BYTEA NOT NULL
                );
                """, compatibility: .expanding),
    ]
}

private let select = """
    SELECT digest, session_id, user_id, token_digest, sealed, began_at, last_used_at FROM console_sessions
    """

/// The rows of the console's sessions. They contain nothing that a browser could present.
struct ConsoleSessionRecords<C: ReadConnection> {
    let connection: C

    init(_ connection: C) {
        self.connection = connection
    }

    func insert(_ session: ConsoleSessionRecord) throws where C == Connection {
        try connection.execute(
            """
            INSERT INTO console_sessions (digest, session_id, user_id, token_digest, sealed, began_at, last_used_at)
            VALUES ($1, $2, $3, $4, $5, $6, $7)
            """, session.digest, session.sessionID, session.userID, session.tokenDigest, session.sealed,
            session.beganAt.microseconds, session.lastUsedAt.microseconds)
    }

    func find(digest: [UInt8]) throws -> ConsoleSessionRecord? {
        try connection.first("\(select) WHERE digest = $1", digest, row: Self.record)
    }

    /// Returns the ids of a user's sessions, the oldest first.
    func sessionIDs(userID: Int64) throws -> [String] {
        try connection.query(
            "SELECT session_id FROM console_sessions WHERE user_id = $1 ORDER BY began_at, digest", userID
        ) { $0.text("session_id") }
    }

    /// Returns the ids of sessions that were not used since `unused`, or began before `begun`.
    func ended(unusedSince unused: UnixTime, begunBefore begun: UnixTime, limit: Int) throws -> [String] {
        try connection.query(
            "SELECT session_id FROM console_sessions WHERE last_used_at <= $1 OR began_at <= $2 LIMIT $3",
            unused.microseconds, begun.microseconds, limit
        ) { $0.text("session_id") }
    }

    func count() throws -> Int {
        try connection.first("SELECT count(*) AS sessions FROM console_sessions") { $0.int("sessions") } ?? 0
    }

    /// Returns the number of sessions of each organization that has any.
    func countsOfOrganizations() throws -> [Int64: Int] {
        let counts = try connection.query(
            """
            SELECT u.organization_id, count(*) AS sessions FROM console_sessions s JOIN users u ON u.id = s.user_id
            GROUP BY u.organization_id
            """
        ) { ($0.int64("organization_id"), $0.int("sessions")) }
        return Dictionary(uniqueKeysWithValues: counts)
    }

    /// Returns the id of the session that was used least recently.
    ///
    /// - Parameter organizationID: the organization of its user.
    func leastRecentlyUsed(organizationID: Int64) throws -> String? {
        try connection.first(
            """
            SELECT s.session_id FROM console_sessions s JOIN users u ON u.id = s.user_id
            WHERE u.organization_id = $1 ORDER BY s.last_used_at, s.began_at, s.digest LIMIT 1
            """, organizationID
        ) { $0.text("session_id") }
    }

    func digests() throws -> [[UInt8]] {
        try connection.query("SELECT digest FROM console_sessions") { $0.blob("digest") }
    }

    func noteUse(digest: [UInt8], at now: UnixTime) throws where C == Connection {
        try connection.execute(
            "UPDATE console_sessions SET last_used_at = $2 WHERE digest = $1", digest, now.microseconds)
    }

    func replaceTokens(digest: [UInt8], sealed: [UInt8]) throws where C == Connection {
        try connection.execute("UPDATE console_sessions SET sealed = $2 WHERE digest = $1", digest, sealed)
    }

    /// Replaces the ticket of a session; does nothing if the session has ended.
    func replaceTicket(session: [UInt8], sealed: [UInt8]) throws where C == Connection {
        try connection.execute(
            """
            INSERT INTO console_tickets (session, sealed) SELECT digest, $2 FROM console_sessions WHERE digest = $1
            ON CONFLICT (session) DO UPDATE SET sealed = excluded.sealed
            """, session, sealed)
    }

    func ticket(session: [UInt8]) throws -> [UInt8]? {
        try connection.first("SELECT sealed FROM console_tickets WHERE session = $1", session) { $0.blob("sealed") }
    }

    func deleteTicket(session: [UInt8]) throws where C == Connection {
        try connection.execute("DELETE FROM console_tickets WHERE session = $1", session)
    }

    private static func record(_ row: Row) -> ConsoleSessionRecord {
        ConsoleSessionRecord(
            digest: row.blob("digest"), sessionID: row.text("session_id"), userID: row.int64("user_id"),
            tokenDigest: row.blob("token_digest"), sealed: row.blob("sealed"), beganAt: row.time("began_at"),
            lastUsedAt: row.time("last_used_at"))
    }
}
