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

    func take(_ name: String, for description: String) throws -> Int64? {
        try state.withLock { state in
            if !state.hasTable {
                try state.session.run(LeaseRecords.table)
                state.hasTable = true
            }
            let result = try state.session.run(
                """
                INSERT INTO leases (name, holder, description, generation, expires_at)
                VALUES (\(literal(name)), '\(holder)', \(literal(description)), 1, \(end))
                ON CONFLICT (name) DO UPDATE SET holder = excluded.holder, description = excluded.description,
                    generation = leases.generation + 1, expires_at = excluded.expires_at
                WHERE leases.expires_at <= \(now) RETURNING generation
                """)
            return result.changedRows == 0 ? nil : Int64(result.text(0, 0))
        }
    }

    func renew(_ leases: [Lease]) throws -> Set<String> {
        guard !leases.isEmpty else { return [] }
        let rows = leases.map { "(\(literal($0.name)), \($0.generation))" }.joined(separator: ", ")
        return try state.withLock { state in
            // A lease that was given up, or taken by force, is not renewed.
            let result = try state.session.run(
                """
                UPDATE leases SET expires_at = \(end)
                WHERE holder = '\(holder)' AND expires_at > 0 AND (name, generation) IN (\(rows)) RETURNING name
                """)
            return Set((0..<result.rowCount).map { result.text($0, 0) })
        }
    }

    func release(_ lease: Lease) throws {
        // The row keeps the generation.
        _ = try state.withLock {
            try $0.session.run(
                """
                UPDATE leases SET expires_at = 0
                WHERE name = \(literal(lease.name)) AND holder = '\(holder)' AND generation = \(lease.generation)
                """)
        }
    }

    func isHeld(_ lease: Lease, in transaction: Connection) throws -> Bool {
        // The lock on the row makes the next holder wait for the end of the transaction.
        try transaction.hasRow(
            """
            SELECT 1 FROM leases WHERE name = $1 AND holder = $2 AND generation = $3 AND expires_at > \(now) FOR SHARE
            """, lease.name, holder, lease.generation)
    }

    func work(under name: String) throws -> String? {
        try state.withLock { state in
            if !state.hasTable {
                try state.session.run(LeaseRecords.table)
                state.hasTable = true
            }
            let result = try state.session.run(
                "SELECT description FROM leases WHERE name = \(literal(name)) AND expires_at > \(now)")
            return result.rowCount == 0 ? nil : result.text(0, 0)
        }
    }

    private func literal(_ text: String) -> String { "'" + text.replacing(bytes: ["'": "''"]) + "'" }
}
