import Basics

/// The rows of named leases on a server, which are changed on a connection of their own: it does not wait for the writers' lock.
final class ServerLeases: LeaseRows {
    private struct State {
        var session: LeaseSession
        var hasTable = false
    }

    /// A random id of this process.
    private let holder: String
    /// The server's time in microseconds, as SQL.
    private let now: String
    private let state: Lock<State>

    /// - Parameter now: SQL for another clock than the server's.
    init(_ server: PostgresServer, now: String = LeaseRecords.now) {
        state = Lock(State(session: LeaseSession(server)))
        self.now = now
        holder = server.holder?.id ?? "\(UInt64.random(in: 0 ... .max))"
    }

    private var end: String { "\(now) + \(Leases.duration.wholeMilliseconds * 1000)" }

    func take(_ name: String) throws -> Int64? {
        try state.withLock { state in
            if !state.hasTable {
                try state.session.run(Self.table)
                state.hasTable = true
            }
            let result = try state.session.run(
                """
                INSERT INTO work_leases (name, holder, generation, expires_at) VALUES (\(literal(name)), '\(holder)', 1, \(end))
                ON CONFLICT (name) DO UPDATE SET
                    holder = excluded.holder, generation = work_leases.generation + 1, expires_at = excluded.expires_at
                WHERE work_leases.expires_at <= \(now) RETURNING generation
                """)
            return result.changedRows == 0 ? nil : Int64(result.text(0, 0))
        }
    }

    func renew(_ lease: Lease) throws -> Bool {
        try state.withLock {
            try $0.session.run("UPDATE work_leases SET expires_at = \(end) WHERE \(condition(lease))").changedRows > 0
        }
    }

    func release(_ lease: Lease) throws {
        // The row keeps the generation.
        _ = try state.withLock { try $0.session.run("UPDATE work_leases SET expires_at = 0 WHERE \(condition(lease))") }
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

    private static let table = """
        CREATE TABLE IF NOT EXISTS work_leases (
            name TEXT COLLATE "C" PRIMARY KEY, holder TEXT COLLATE "C" NOT NULL, generation BIGINT NOT NULL,
            expires_at BIGINT NOT NULL
        )
        """
}
