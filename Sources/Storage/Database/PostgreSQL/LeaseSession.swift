/// A connection for the rows of leases, which does not wait for the writers' lock. It is opened when it is first used, and again after it
/// was lost.
struct LeaseSession {
    private static let requestLimit = Duration.seconds(5)

    private let server: PostgresServer
    private var session: PostgresSession?

    init(_ server: PostgresServer) {
        self.server = server
    }

    /// Runs a statement as a transaction of its own.
    @discardableResult
    mutating func run(_ sql: String) throws(DatabaseError) -> PostgresResult {
        let current: PostgresSession
        if let session { current = session } else { current = try PostgresSession(server, .reader) }
        session = current
        if current.link.isLost || current.link.isOfFormerPrimary { try current.reconnect() }
        // It does not wait for a standby: a change that only the primary has is as good.
        return try current.run(
            "SELECT set_config('synchronous_commit', 'local', true); \(sql)", atMost: Self.requestLimit)
    }
}
