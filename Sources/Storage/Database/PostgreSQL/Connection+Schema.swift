extension Connection {
    /// Takes the right to the schema, creates the tables in an empty one, and applies the migrations that it does not have, in order, all
    /// in one transaction. It has the writer's lock, so that one of several programs does it.
    ///
    /// - Parameter baseline: the statements that create the tables of the program's version, and insert the names of the migrations
    ///   whose result that is into `migrations`.
    /// - Throws: `newerSchema` if the database has a migration that is not among them, `unsuitable` if another program has the right;
    ///   nothing is changed then.
    func migrate(_ migrations: [Migration], from baseline: String, on server: PostgresServer) throws {
        try session.begin()
        do {
            try session.executeScript("SET LOCAL statement_timeout = 0")
            if try !create(baseline, migrations, on: server) { try apply(migrations) }
            try session.commit()
        } catch {
            if session.isInTransaction { try session.control("ROLLBACK") }
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
        if let holder = server.holder { try LeaseRecords.take(holder, in: self) }
        let isNew = try first("SELECT to_regclass($1) AS class", "\(server.quotedSchema).migrations") { row in
            row.isNull("class")
        }
        guard isNew ?? true else { return false }
        try session.executeScript(
            "CREATE TABLE migrations (name TEXT COLLATE \"C\" PRIMARY KEY, number BIGINT NOT NULL)")
        try session.executeScript(baseline)
        try apply(migrations)
        return true
    }

    /// Applies the migrations that the schema does not have, in the open transaction.
    private func apply(_ migrations: [Migration]) throws {
        for migration in try pending(migrations) {
            guard let sql = migration.postgres else {
                throw DatabaseError.misuse("the migration \(migration.name) has no statements for PostgreSQL")
            }
            try session.executeScript(sql)
            try migration.change?(self)
            try record(migration.name)
        }
    }
}
