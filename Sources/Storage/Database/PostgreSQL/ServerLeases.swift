import Basics

/// The rows of named leases on a server, which are changed on a connection of their own: it does not wait for the writers' lock.
final class ServerLeases: LeaseRows {
    private static let requestLimit = Duration.seconds(5)

    private let server: PostgresServer
    /// A random id of this process.
    private let holder: String
    /// The server's time in microseconds, as SQL.
    private let now: String
    private let session = Lock<PostgresSession?>(nil)

    /// - Parameter now: SQL for another clock than the server's.
    init(_ server: PostgresServer, now: String = LeaseRecords.now) {
        self.server = server
        self.now = now
        holder = server.holder?.id ?? "\(UInt64.random(in: 0 ... .max))"
    }

    private var end: String { "\(now) + \(Leases.duration.wholeMilliseconds * 1000)" }

    func take(_ name: String) throws -> Int64? {
        try session.withLock { session in
            if session == nil { try createTable(&session) }
            let result = try run(
                """
                INSERT INTO work_leases (name, holder, generation, expires_at) VALUES (\(literal(name)), '\(holder)', 1, \(end))
                ON CONFLICT (name) DO UPDATE SET
                    holder = excluded.holder, generation = work_leases.generation + 1, expires_at = excluded.expires_at
                WHERE work_leases.expires_at <= \(now) RETURNING generation
                """, &session)
            return result.changedRows == 0 ? nil : Int64(result.text(0, 0))
        }
    }

    func renew(_ lease: Lease) throws -> Bool {
        try session.withLock { session in
            try run("UPDATE work_leases SET expires_at = \(end) WHERE \(condition(lease))", &session).changedRows > 0
        }
    }

    func release(_ lease: Lease) throws {
        try session.withLock { session in
            // The row keeps the generation.
            _ = try run("UPDATE work_leases SET expires_at = 0 WHERE \(condition(lease))", &session)
        }
    }

    func isHeld(_ lease: Lease, in transaction: Connection) throws -> Bool {
        // The lock on the row makes the next holder wait for the end of the transaction.
        try transaction.hasRow(
            """
            SELECT 1 FROM work_leases WHERE name = $1 AND holder = $2 AND generation = $3 AND expires_at > \(now) FOR SHARE
            """, lease.name, holder, lease.generation)
    }

    private func condition(_ lease: Lease) -> String {
        "name = \(literal(lease.name)) AND holder = '\(holder)' AND generation = \(lease.generation)"
    }

    private func literal(_ text: String) -> String { "'" + text.replacing(bytes: ["'": "''"]) + "'" }

    private func createTable(_ session: inout PostgresSession?) throws(DatabaseError) {
        _ = try run(
            """
            CREATE TABLE IF NOT EXISTS work_leases (
                name TEXT COLLATE "C" PRIMARY KEY, holder TEXT COLLATE "C" NOT NULL, generation BIGINT NOT NULL,
                expires_at BIGINT NOT NULL
            )
            """, &session)
    }

    private func run(_ sql: String, _ session: inout PostgresSession?) throws(DatabaseError) -> PostgresResult {
        let current: PostgresSession
        if let session { current = session } else { current = try PostgresSession(server, .reader) }
        session = current
        if current.link.isLost || current.link.isOfFormerPrimary { try current.reconnect() }
        // It does not wait for a standby: a change that only the primary has is as good.
        return try current.run(
            "SELECT set_config('synchronous_commit', 'local', true); \(sql)", atMost: Self.requestLimit)
    }
}
