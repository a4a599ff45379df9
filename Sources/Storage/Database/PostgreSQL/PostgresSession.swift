import CPQ
import Glibc

/// A connection to a PostgreSQL server, which is opened again after it was lost, before the next transaction.
///
/// The rows of a query are all in the program before the first one is read, unless its reader may stop before the last one.
final class PostgresSession: DatabaseSession {
    enum Role {
        /// Its transactions run one after the other, also those of several programs: each takes the writer's lock first.
        case writer
        /// Its transactions read one snapshot.
        case reader
    }

    /// The pause between two attempts to connect, in microseconds.
    private static let retryPause: UInt32 = 100_000

    let server: PostgresServer
    let role: Role
    private(set) var link: PostgresLink
    /// The server process that has the link; see ``identify``.
    private var process = ""
    /// The names of the prepared statements by their texts.
    var names: [String: String] = [:]
    var nameCount = 0
    /// The statements that are sent with the next one.
    var pending: [PendingStatement] = []
    /// The failure of a statement before the latest savepoint.
    var earlierFailure: DatabaseError?
    /// The results of statements that the transaction has not run yet.
    var results: [Query: PostgresResult] = [:]
    /// The statements of ``sendTogether(_:)`` while it looks for them.
    var collected: [Query]?
    /// Whether the server has statements that are not in `names` any more.
    var hasExpiredStatements = false
    /// The server's number of the writer's transaction, and the process that runs it.
    private var transaction: (number: String, process: String)?
    /// The time since when the transaction has the writers' lock.
    private var lockedSince = ContinuousClock.now
    /// The number of its writes that were under savepoints.
    private var writes = 0
    /// Whether each transaction requires the program's right to the schema.
    var requiresLease = false
    /// The time since when the server cannot be reached; `nil` = it can.
    private var lostAt: ContinuousClock.Instant?

    /// - Throws: ``DatabaseError/unavailable(_:)``, ``DatabaseError/unsuitable(_:)``.
    init(_ server: PostgresServer, _ role: Role) throws(DatabaseError) {
        self.server = server
        self.role = role
        link = try Self.firstLink(to: server)
        super.init()
        do {
            try configure()
        } catch {
            // libpq reached the host, which may be a former primary.
            guard case .unavailable = error else { throw error }
            try connect()
        }
    }

    /// Returns a link to the first host that accepts one.
    private static func firstLink(to server: PostgresServer) throws(DatabaseError) -> PostgresLink {
        try ofEachHost(of: server) { (link) throws(DatabaseError) in link }
    }

    /// Connects to one host after the other, beginning with the latest primary, until `body` succeeds.
    private static func ofEachHost<T>(
        of server: PostgresServer, _ body: (PostgresLink) throws(DatabaseError) -> T
    ) throws(DatabaseError) -> T {
        let hosts = try server.hosts()
        var reasons: [String] = []
        for offset in 0..<hosts.count {
            let host = hosts[(server.timelines.host + offset) % hosts.count]
            do {
                let link = try PostgresLink(host, atMost: server.connectTimeout / hosts.count, server.timelines)
                link.roundTrips = server.roundTrips
                return try body(link)
            } catch {
                guard case .unavailable(let reason) = error else { throw error }
                if !reasons.contains(reason) { reasons.append(reason) }
            }
        }
        // A standby refuses each time; what the primary lacks is the reason of another host.
        throw .unavailable(reasons.isEmpty ? "the database's URL has no host" : reasons.joined(separator: "; "))
    }

    override var batchTime: Duration? { server.batchTime }

    override var isRemote: Bool { true }

    override var isInTransaction: Bool {
        isBeginning
            || !link.isLost && [PQTRANS_INTRANS, PQTRANS_INERROR, PQTRANS_ACTIVE].contains(link.transactionStatus)
    }

    /// Whether a reader's transaction has begun, and the server does not know it.
    var isBeginning: Bool { role == .reader && !pending.isEmpty }

    override func executeScript(_ sql: String) throws(DatabaseError) {
        try sendPending()
        try run(sql, atMost: .seconds(600))
    }

    override func control(_ sql: String) throws(DatabaseError) {
        results.removeAll(keepingCapacity: true)
        if sql == "ROLLBACK" {
            let wasBeginning = isBeginning
            forgetPending()
            if wasBeginning { return }
        }
        // A rollback to the latest savepoint would leave what was before it.
        if let earlierFailure { throw earlierFailure }
        // They would be rolled back.
        while case .statement = pending.last { pending.removeLast() }
        try run(sql)
    }

    override func controlSoon(_ sql: String) throws(DatabaseError) {
        if let earlierFailure { throw earlierFailure }
        guard link.transactionStatus != PQTRANS_INERROR else { throw .rolledBack }
        if sql.utf8.starts(with: "RELEASE".utf8) { writes += 1 }
        pending.append(.control(sql))
    }

    private func forgetPending() {
        pending.removeAll(keepingCapacity: true)
        results.removeAll(keepingCapacity: true)
        earlierFailure = nil
    }

    // MARK: Statements

    override func prepare(_ sql: String) throws(DatabaseError) -> Statement {
        PostgresStatement(sql, on: self)
    }

    override func dropStatements() throws(DatabaseError) {
        try super.dropStatements()
        try sendPending()
        guard !names.isEmpty else { return }
        names.removeAll(keepingCapacity: true)
        try run("DEALLOCATE ALL")
    }

    override func sendTogether(_ body: () throws -> Void) throws(DatabaseError) {
        collected = []
        // It fails if it needs a row.
        _ = try? body()
        let queries = collected ?? []
        collected = nil
        guard !queries.isEmpty else { return }
        try beginningAgain { () throws(DatabaseError) in
            var pipeline = takePending()
            let positions = queries.map { append($0, to: &pipeline) }
            let results = try run(pipeline, atMost: statementLimit)
            for (query, position) in zip(queries, positions) { self.results[query] = results[position] }
        }
    }

    func forgetStatements() {
        releaseStatements()
        names.removeAll(keepingCapacity: true)
    }

    // MARK: Connecting

    private func connect() throws(DatabaseError) {
        forgetStatements()
        hasExpiredStatements = false
        forgetPending()
        // A former primary accepts writes, too, so the next host is tried if it is one.
        try Self.ofEachHost(of: server) { (link) throws(DatabaseError) in
            self.link = link
            try configure()
        }
    }

    /// Connects again; the writer tries it for a while.
    func reconnect() throws(DatabaseError) {
        let since = lostAt ?? .now
        lostAt = since
        while true {
            do {
                try connect()
                lostAt = nil
                server.activity.note { $0.reconnects += 1 }
                return
            } catch {
                guard case .unavailable = error, role == .writer, !server.activity.isEnding,
                    ContinuousClock.now - since < server.reconnectTimeout
                else { throw error }
            }
            usleep(Self.retryPause)
        }
    }

    private func configure() throws(DatabaseError) {
        guard link.serverVersion >= 150_000 else {
            throw .unsuitable("the server is older than PostgreSQL 15: upgrade it")
        }
        guard link.serverEncoding == "UTF8" else {
            throw .unsuitable("the database has the encoding \(link.serverEncoding): create it with ENCODING 'UTF8'")
        }
        let settings = [
            "search_path": server.quotedSchema,
            "idle_in_transaction_session_timeout": "\(server.idleTimeout.wholeMilliseconds)",
            "jit": "off",
        ]
        let commands = settings.map { "SET \($0.key) = \($0.value)" } + [limits, Self.waitForLog, Self.identify]
        let result = try run(commands.joined(separator: "; "))
        guard result.rowCount == 1 else { throw .unsuitable("the server does not identify itself") }
        guard result.int64(0, 0) == Int64(link.backend) || server.pooler == .session else {
            throw .unsuitable(
                "a connection pooler is in front of the database: connect to the server itself, or set database.pooler")
        }
        process = result.text(0, 1)
        try link.setTimeline(result.int64(0, 2))
    }

    /// The commands that limit statements and their waits for locks.
    var limits: String {
        // The writer's wait for its lock is a statement, too; afterwards its transaction has the shorter limit.
        let statement = role == .writer ? server.lockTimeout + server.writeTimeout : server.readTimeout
        return """
            SET statement_timeout = \(statement.wholeMilliseconds); \
            SET lock_timeout = \(server.lockTimeout.wholeMilliseconds)
            """
    }

    /// Makes a COMMIT wait until it is on the server's disk, whatever the default of the server.
    private static let waitForLog = """
        SELECT set_config('synchronous_commit', 'on', false) WHERE current_setting('synchronous_commit') = 'off'
        """

    /// Returns the process of the session, a text that changes whenever the server's processes start, also after a crash, and the
    /// timeline. After such a start, the numbers of transactions that were not written are used again.
    private static let identify = """
        SELECT pg_backend_pid(), pg_postmaster_start_time()::text || ' ' || \
        coalesce((SELECT stats_reset::text FROM pg_stat_bgwriter), ''), \(Timelines.query)
        """

    // MARK: Transactions

    override func begin() throws(DatabaseError) {
        forgetPending()
        var isNew = false
        if link.isOfFormerPrimary { link.abandon() }
        if link.isLost {
            try reconnect()
            isNew = true
        }
        do {
            try start()
        } catch {
            // The connection was lost while nobody used it.
            guard link.isLost, !isNew else { throw error }
            try reconnect()
            try start()
        }
    }

    private func start() throws(DatabaseError) {
        if hasExpiredStatements {
            try run("DEALLOCATE ALL")
            hasExpiredStatements = false
        }
        guard role == .writer else {
            pending = [.control("BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY")]
            return
        }
        // One message, and so one round trip. Each statement sees what is committed at its time, which is after the lock. The record in
        // the log makes COMMIT wait for the standby also if nothing is written: what was found, such as the result of an earlier call
        // that is repeated, may be visible although no standby has it.
        let begin = ContinuousClock.now
        writes = 0
        let holder = requiresLease ? server.holder : nil
        let result = try run(
            """
            \(lock); SET LOCAL statement_timeout = \(server.writeTimeout.wholeMilliseconds); \
            SELECT pg_current_xact_id()::text, \(Self.logRecord), \(holder.map(LeaseRecords.isHeld) ?? "true")
            """, atMost: server.lockTimeout + server.networkTimeout)
        guard result.text(0, 2) == "t" else {
            try run("ROLLBACK")
            throw .unavailable("another gateway has taken the database over")
        }
        transaction = (result.text(0, 0), process)
        lockedSince = .now
        server.activity.note(\.lockWait, lockedSince - begin)
    }

    /// Writes to the log behind everything that the transaction can see.
    private static let logRecord = "pg_logical_emit_message(true, 'data-gateway', '')"

    /// Begins a transaction that waits for the end of all other writers' transactions.
    private var lock: String {
        "BEGIN ISOLATION LEVEL READ COMMITTED; SELECT pg_advisory_xact_lock(\(server.lockKey), 0)"
    }

    /// - Throws: also ``DatabaseError/unavailable(_:)`` if the connection was lost and nothing is committed.
    override func commit() throws(DatabaseError) {
        guard role == .writer else { return try endReading() }
        let begin = ContinuousClock.now
        do throws(DatabaseError) {
            try commitWriting()
        } catch {
            if error == .outcomeUnknown { server.activity.note { $0.inDoubt += 1 } }
            throw error
        }
        let (end, writes) = (ContinuousClock.now, max(1, writes))
        server.activity.note {
            $0.commit.add(end - begin)
            $0.lockHeld.add(end - lockedSince)
            $0.batches += 1
            $0.writes += writes
        }
    }

    private func commitWriting() throws(DatabaseError) {
        let warnings = link.warningCount
        do throws(DatabaseError) {
            let result = try run("COMMIT", atMost: server.commitTimeout + server.networkTimeout)
            // The COMMIT of a transaction with a failed statement is a ROLLBACK, and no error.
            guard result.command == "COMMIT" else { throw .rolledBack }
        } catch {
            guard link.isLost else { throw error }
            return try ask()
        }
        // The wait for a standby was cancelled.
        if link.warningCount > warnings { try ask() }
        guard !link.isOfFormerPrimary else { throw .outcomeUnknown }
    }

    /// Ends a transaction that has only read, whatever the server says to that.
    ///
    /// - Throws: if what was read may be old.
    private func endReading() throws(DatabaseError) {
        defer { forgetPending() }
        if link.isOfFormerPrimary { throw link.former() }
        if !isBeginning { try link.post("COMMIT") }
    }

    /// Asks the server whether the latest transaction is committed, after the connection was lost before the answer.
    private func ask() throws(DatabaseError) {
        guard let transaction else { throw .outcomeUnknown }
        let outcome: String
        do {
            if link.isLost { try reconnect() }
            guard process == transaction.process else { throw DatabaseError.outcomeUnknown }
            // The transaction has ended once its lock is free. Its rows may be visible although no standby has them; the COMMIT of
            // this transaction waits for the standby again.
            outcome = try run(
                """
                \(lock); SELECT pg_xact_status('\(transaction.number)'::xid8), \(Self.logRecord)
                """, atMost: server.lockTimeout + server.networkTimeout
            ).text(0, 0)
            let warnings = link.warningCount
            try run("COMMIT", atMost: server.commitTimeout + server.networkTimeout)
            guard link.warningCount == warnings else { throw DatabaseError.outcomeUnknown }
        } catch {
            if isInTransaction { _ = try? run("ROLLBACK") }
            throw .outcomeUnknown
        }
        switch outcome {
        case "committed": return
        case "aborted": throw .unavailable("the connection was lost before the transaction was committed")
        default: throw .outcomeUnknown
        }
    }
}
