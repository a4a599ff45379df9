/// One step of the schema, applied once in a transaction of its own, and never edited afterwards: errors are corrected by later
/// steps.
package struct Migration: Sendable {
    /// The name: the module and a number, e.g. `accounts-1`.
    package let name: String
    /// The statements, separated by semicolons.
    package let sql: String
    /// The statements for PostgreSQL; `nil` if each baseline has their result.
    package let postgres: String?
    /// A change of rows that needs more than SQL, after the statements and in their transaction.
    let change: (@Sendable (Connection) throws -> Void)?
    /// Whether a file that lacks the step stays without it; a file that has it is accepted.
    package private(set) var isDormant = false

    package init(name: String, sql: String, postgres: String? = nil) {
        self.name = name
        self.sql = sql
        self.postgres = postgres
        change = nil
    }

    package init(name: String, change: @escaping @Sendable (Connection) throws -> Void) {
        self.name = name
        self.change = change
        sql = ""
        postgres = ""
    }

    /// The same step for a file whose owner does not use it now.
    package var dormant: Migration { with(isDormant: true) }

    /// The same step for a file that has all tables.
    var used: Migration { with(isDormant: false) }

    private func with(isDormant: Bool) -> Migration {
        var migration = self
        migration.isDormant = isDormant
        return migration
    }
}

extension Connection {
    /// Applies the migrations that a SQLite file does not have, in order.
    ///
    /// - Throws: `newerSchema` if the file has one that is not among them; nothing is changed then.
    func migrate(_ migrations: [Migration]) throws {
        try execute("CREATE TABLE IF NOT EXISTS migrations (name TEXT PRIMARY KEY, number INTEGER NOT NULL) STRICT")
        for migration in try pending(migrations) {
            try execute("BEGIN IMMEDIATE")
            do {
                try session.executeScript(migration.sql)
                try migration.change?(self)
                try record(migration.name)
                try execute("COMMIT")
            } catch {
                if isInTransaction { try execute("ROLLBACK") }
                throw error
            }
        }
    }

    /// Records that the database has a migration.
    func record(_ migration: String) throws(DatabaseError) {
        try execute("INSERT INTO migrations (name, number) SELECT $1, count(*) + 1 FROM migrations", migration)
    }
}

extension ReadConnection {
    /// Returns the migrations that the file does not have, in order, without dormant ones.
    ///
    /// - Throws: `newerSchema` if the file has one that is not among them.
    package func pending(_ migrations: [Migration]) throws -> [Migration] {
        let applied = try query("SELECT name FROM migrations ORDER BY number") { $0.text("name") }
        let known = Set(migrations.map(\.name))
        if let unknown = applied.first(where: { !known.contains($0) }) {
            throw DatabaseError.newerSchema(migration: unknown)
        }
        return migrations.filter { !$0.isDormant && !applied.contains($0.name) }
    }
}
