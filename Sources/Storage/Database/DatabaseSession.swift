/// The engine's side of a connection: its prepared statements and its transactions. Each engine has its own subclass, as it has of
/// ``Statement``.
class DatabaseSession {
    /// The number of cached statements; beyond it all are dropped, so that generated filters do not use up memory.
    private static let cachedStatements = 256

    private final var statements: [String: Statement] = [:]

    /// Returns the prepared statement of a text. The same text inside its own row closure gets another one.
    final func statement(_ sql: String) throws(DatabaseError) -> Statement {
        if let known = statements[sql] {
            if !known.isRunning { return known }
            return try prepare(sql)
        }
        if statements.count >= Self.cachedStatements { try dropStatements() }
        let new = try prepare(sql)
        statements[sql] = new
        return new
    }

    /// Prepares all statements again when they are used next.
    func dropStatements() throws(DatabaseError) {
        statements.removeAll(keepingCapacity: true)
    }

    /// Releases all statements, at the end of the session.
    final func releaseStatements() {
        statements = [:]
    }

    /// Prepares a statement.
    func prepare(_ sql: String) throws(DatabaseError) -> Statement { preconditionFailure("each engine prepares") }

    /// Begins a transaction: the writer's, or one that reads a single snapshot.
    func begin() throws(DatabaseError) { preconditionFailure("each engine begins") }

    /// Commits the transaction.
    ///
    /// - Throws: ``DatabaseError/outcomeUnknown`` if the transaction may be committed. After any other error of an engine on another
    ///   machine, nothing of it is kept.
    func commit() throws(DatabaseError) { preconditionFailure("each engine commits") }

    /// Runs a statement that controls transactions, such as SAVEPOINT or ROLLBACK.
    func control(_ sql: String) throws(DatabaseError) { preconditionFailure("each engine controls") }

    /// Runs a statement that controls transactions, at the latest together with the next statement, so that it has no round trip of
    /// its own to a server.
    ///
    /// - Throws: also if a statement of the transaction has failed, and was not rolled back.
    func controlSoon(_ sql: String) throws(DatabaseError) { try control(sql) }

    /// Whether each statement has a round trip to a server.
    var isRemote: Bool { false }

    /// Sends the statements of `body`; see ``ReadConnection/together(_:)``.
    func sendTogether(_ body: () throws -> Void) throws(DatabaseError) {}

    /// Runs any number of statements without arguments.
    func executeScript(_ sql: String) throws(DatabaseError) { preconditionFailure("each engine executes") }

    /// Whether a transaction is open. The engine may end one by rolling it back after an error.
    var isInTransaction: Bool { preconditionFailure("each engine knows") }

    /// The longest time in which writes are added to a transaction; `nil` = no limit.
    var batchTime: Duration? { nil }

    /// The session itself if its database is a file.
    var file: SQLiteSession? { nil }
}
