/// One step of the schema, applied once, in a transaction of its own, and then never edited: what it got wrong the
/// next one mends.
package struct Migration: Sendable {
    /// The module and a number, e.g. `accounts-1`.
    package let name: String
    /// Statements, ended by semicolons.
    package let sql: String

    package init(name: String, sql: String) {
        self.name = name
        self.sql = sql
    }
}

extension Connection {
    /// Applies those of `migrations` that the file has not seen, in their order.
    ///
    /// - Throws: `newerSchema` when the file records one that is not among them; nothing is changed then.
    func migrate(_ migrations: [Migration]) throws {
        try execute("CREATE TABLE IF NOT EXISTS migrations (name TEXT PRIMARY KEY, number INTEGER NOT NULL) STRICT")
        for migration in try pending(migrations) {
            try execute("BEGIN IMMEDIATE")
            do {
                try executeScript(migration.sql)
                try execute(
                    "INSERT INTO migrations (name, number) SELECT $1, count(*) + 1 FROM migrations", migration.name)
                try execute("COMMIT")
            } catch {
                if isInTransaction { try execute("ROLLBACK") }
                throw error
            }
        }
    }

    /// The migrations that the file has not had, in their order.
    ///
    /// - Throws: `newerSchema` when the file records one that is not among them.
    package func pending(_ migrations: [Migration]) throws -> [Migration] {
        let applied = try query("SELECT name FROM migrations ORDER BY number") { $0.text("name") }
        let known = Set(migrations.map(\.name))
        if let unknown = applied.first(where: { !known.contains($0) }) {
            throw DatabaseError.newerSchema(migration: unknown)
        }
        return migrations.filter { !applied.contains($0.name) }
    }
}
