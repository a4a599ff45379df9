import Glibc

/// The migrations of a schema on a server, where other programs may use the tables meanwhile.
extension Connection {
    /// Takes the right to the schema, creates the tables in an empty one, and applies the migrations that it does not have, in order.
    ///
    /// - Parameter baseline: the statements that create the tables of the program's version, and insert the names of the migrations
    ///   whose result that is into `migrations`.
    /// - Throws: `newerSchema` if the schema is not for this program, `unsuitable` if another program has the right; nothing is
    ///   changed then.
    func migrate(_ migrations: [Migration], from baseline: String, on server: PostgresServer) throws {
        let isNew = try writing {
            try session.executeScript("SET LOCAL statement_timeout = 0")
            return try create(baseline, migrations, on: server)
        }
        guard !isNew else { return }
        do {
            _ = try apply(migrations)
        } catch {
            // Else others would wait for the end of a program that did not start.
            if let holder = server.holder {
                _ = try? writing { try execute("DELETE FROM leases WHERE \(LeaseRecords.condition(holder))") }
            }
            throw error
        }
    }

    /// Takes the right to the schema in the open transaction, and creates the tables if it has none.
    ///
    /// - Returns: whether it had none.
    func create(_ baseline: String, _ migrations: [Migration], on server: PostgresServer) throws -> Bool {
        // Whoever may not create schemas may use one that exists.
        if try !hasRow("SELECT 1 FROM pg_namespace WHERE nspname = $1", server.schema) {
            try session.executeScript("CREATE SCHEMA \(server.quotedSchema)")
        }
        // Before the tables of a running program are changed.
        if let holder = server.holder { try LeaseRecords.take(holder, migrations, in: self) }
        let isNew = try first("SELECT to_regclass($1) AS class", "\(server.quotedSchema).migrations") { row in
            row.isNull("class")
        }
        guard isNew ?? true else { return false }
        try session.executeScript(
            """
            CREATE TABLE migrations (
                name TEXT COLLATE "C" PRIMARY KEY, number BIGINT NOT NULL, lowest_migration TEXT COLLATE "C"
            )
            """)
        try session.executeScript(baseline)
        for migration in migrations where migration.compatibility.lowest != nil { try record(migration) }
        for migration in try pending(migrations) { try change(by: migration) }
        return true
    }

    /// Applies the migrations that the schema does not have, each in a transaction with the writers' lock, one program after the other.
    ///
    /// - Parameter permit: throws if they must not be applied now; called for all of them, and again in the transaction of each. By
    ///   default they must be for all programs that use the schema.
    /// - Returns: their names.
    func apply(_ migrations: [Migration], permit: (([Migration]) throws -> Void)? = nil) throws -> [String] {
        guard let session = session as? PostgresSession, try pendingOnServer(migrations)?.isEmpty == false else {
            return []
        }
        try session.lockMigrations()
        // Another program may have applied some meanwhile.
        let pending = try pendingOnServer(migrations) ?? []
        let permit = permit ?? requireUsers
        try permit(pending)
        for migration in pending {
            // Outside of the transaction, which then records that it is there.
            if let index = migration.index { try session.buildIndex(index, migration.sql) }
            try session.waitingForTables { limit in
                try writing {
                    try session.executeScript(limit)
                    // A gateway that starts takes the right to the schema with the writers' lock, too.
                    try permit([migration])
                    try change(by: migration)
                }
            }
        }
        try session.unlockMigrations()
        return pending.map(\.name)
    }

    private func requireUsers(toAdmit migrations: [Migration]) throws {
        for user in try LeaseRecords.users(in: self) {
            guard let migration = migrations.first(where: { !user.admits($0) }) else { continue }
            throw DatabaseError.unsuitable(
                "a gateway uses the database (\(user.description)), and the migration \(migration.name) is not for its version: "
                    + "stop it first")
        }
    }

    /// Applies one migration in the open transaction.
    private func change(by migration: Migration) throws {
        guard let sql = migration.postgres else {
            throw DatabaseError.misuse("the migration \(migration.name) has no statements for PostgreSQL")
        }
        let isBuilt = try migration.index.map {
            try hasRow("SELECT 1 FROM pg_class WHERE oid = to_regclass($1)", "\"\($0)\"")
        }
        if isBuilt != true { try session.executeScript(sql) }
        try migration.change?(self)
        try record(migration)
    }

    /// Records that the schema has a migration.
    private func record(_ migration: Migration) throws(DatabaseError) {
        try execute(
            """
            INSERT INTO migrations (name, number, lowest_migration) SELECT $1, count(*) + 1, $2 FROM migrations
            ON CONFLICT (name) DO UPDATE SET lowest_migration = excluded.lowest_migration
            """, migration.name, migration.compatibility.lowest)
    }

    /// Refuses programs from now on that lack a migration, even if the step itself is expanding. A SQLite file always refuses them.
    package func requireMigration(_ name: String) throws {
        guard session.isRemote else { return }
        try execute("UPDATE migrations SET lowest_migration = NULL WHERE name = $1", name)
    }

    /// Runs `body` in a transaction.
    private func writing<T>(_ body: () throws -> T) throws -> T {
        try session.begin()
        do {
            let value = try body()
            try session.commit()
            return value
        } catch {
            if session.isInTransaction { try session.control("ROLLBACK") }
            throw error
        }
    }
}

extension ReadConnection {
    /// Returns the migrations that a schema on a server does not have; `nil` if it has no tables.
    func pendingOnServer(_ migrations: [Migration]) throws -> [Migration]? {
        try session.begin()
        let exists = try hasRow("SELECT 1 FROM pg_class WHERE oid = to_regclass('migrations')")
        let pending = exists ? try pending(migrations) : nil
        try session.commit()
        return pending
    }
}

/// Statements that a migration runs outside of transactions.
extension PostgresSession {
    /// The attempts to lock a table, with a pause as long as the attempt.
    private static let tableLockAttempts = 60
    /// The longest building of an index.
    private static let indexLimit = Duration.seconds(86_400)
    /// The longest wait for another program that applies migrations, in attempts with a pause of half a second.
    private static let lockAttempts = 7200

    /// The key of the lock of the program that applies migrations.
    private var migrationLock: String { "\(server.lockKey), 1" }

    /// Takes the lock of the program that applies migrations.
    ///
    /// - Throws: ``DatabaseError/locked`` after an hour.
    fileprivate func lockMigrations() throws(DatabaseError) {
        for _ in 0..<Self.lockAttempts {
            // A statement that waits would hold a snapshot, for whose end the building of an index waits.
            if try run("SELECT pg_try_advisory_lock(\(migrationLock))").text(0, 0) == "t" { return }
            usleep(500_000)
        }
        throw .locked
    }

    fileprivate func unlockMigrations() throws(DatabaseError) {
        try run("SELECT pg_advisory_unlock(\(migrationLock))")
    }

    /// Runs `body`, and repeats it while a table that it needs is in use.
    ///
    /// - Parameter body: gets the statements that limit its wait for a table.
    fileprivate func waitingForTables(_ body: (_ limit: String) throws -> Void) throws {
        let timeout = server.tableLockTimeout.wholeMilliseconds
        for attempt in 1... {
            do {
                return try body("SET LOCAL statement_timeout = 0; SET LOCAL lock_timeout = \(timeout)")
            } catch DatabaseError.locked where attempt < Self.tableLockAttempts {
                usleep(UInt32(timeout) * 1000)
            }
        }
    }

    /// Creates an index while other programs write to its table.
    fileprivate func buildIndex(_ name: String, _ statement: String) throws(DatabaseError) {
        try run("SET statement_timeout = 0; SET lock_timeout = 0")
        let quoted = "to_regclass('\"\(name)\"')"
        // An attempt that failed has left one that is not used.
        if try run("SELECT FROM pg_index WHERE indexrelid = \(quoted) AND NOT indisvalid").rowCount > 0 {
            try run("DROP INDEX CONCURRENTLY \"\(name)\"", atMost: Self.indexLimit)
        }
        if try run("SELECT FROM pg_index WHERE indexrelid = \(quoted)").rowCount == 0 {
            let parts = statement.split(separator: "INDEX ", maxSplits: 1)
            try run(parts.joined(separator: "INDEX CONCURRENTLY "), atMost: Self.indexLimit)
        }
        try run(limits)
    }
}

extension PostgresServer {
    /// Returns the migrations that the schema does not have; `nil` if it has no tables.
    package func pending(_ migrations: [Migration]) throws -> [Migration]? {
        try ReadConnection(try PostgresSession(self, .reader)).pendingOnServer(migrations)
    }

    /// Applies the migrations that the schema does not have, also while a gateway of an earlier version uses it.
    ///
    /// - Returns: their names.
    /// - Throws: ``DatabaseError/unsuitable(_:)`` if the schema has no tables, or a gateway uses it and one of the migrations is not
    ///   for its version.
    package func migrate(_ migrations: [Migration]) throws -> [String] {
        let connection = Connection(try PostgresSession(self, .writer))
        guard try connection.pendingOnServer(migrations) != nil else {
            throw DatabaseError.unsuitable("the schema \(schema) has no tables: a gateway creates them when it starts")
        }
        return try connection.apply(migrations)
    }
}
