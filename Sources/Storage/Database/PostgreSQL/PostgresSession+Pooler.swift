extension PostgresSession {
    private static let pooledSessions = 20

    /// Examines whether a pooler in front of the server keeps one session for each connection, over several transactions.
    ///
    /// - Throws: ``DatabaseError/unsuitable(_:)`` if it does not.
    static func requireSessions(of server: PostgresServer) throws(DatabaseError) {
        var sessions: [PostgresSession] = []
        for number in 0..<pooledSessions {
            let session = try PostgresSession(server, .reader)
            try session.run("SELECT set_config('data_gateway.session', '\(number)', false)")
            sessions.append(session)
        }
        // If servers are changed with each transaction, several connections find what another one has set, or nothing.
        for (number, session) in sessions.enumerated() {
            let found = try session.run("SELECT coalesce(current_setting('data_gateway.session', true), '')").text(0, 0)
            guard found == "\(number)" else {
                throw .unsuitable(
                    "the connection pooler changes sessions with each transaction: set its pool_mode to session")
            }
        }
    }
}
