/// One step of the schema, applied once in a transaction of its own, and never edited afterwards: errors are corrected by later
/// steps.
package struct Migration: Sendable {
    /// The programs that may use a schema on a server after a step. A SQLite file is always refused by a program that lacks one.
    package enum Compatibility: Sendable, Equatable {
        /// Only programs that have the step.
        case own
        /// Also those that lack it: the step adds what their statements do not notice.
        case expanding
        /// Only programs that have the named step of an earlier release: what programs before that use is removed.
        case contracting(after: String)

        /// The step that a program must have, as the table of migrations records it; empty = none, `nil` = this one.
        var lowest: String? {
            switch self {
            case .own: nil
            case .expanding: ""
            case .contracting(let step): step
            }
        }
    }

    /// The name: the module and a number, e.g. `accounts-1`.
    package let name: String
    /// The statements, separated by semicolons.
    package let sql: String
    /// The statements for PostgreSQL; `nil` if each baseline has their result.
    package let postgres: String?
    package let compatibility: Compatibility
    /// The name of the index that `sql` creates on a table with rows; `nil` = it does something else. On a server, writes continue
    /// meanwhile.
    let index: String?
    /// A change of rows that needs more than SQL, after the statements and in their transaction.
    let change: (@Sendable (Connection) throws -> Void)?
    /// Whether a file that lacks the step stays without it; a file that has it is accepted.
    package private(set) var isDormant = false

    package init(name: String, sql: String, postgres: String? = nil, compatibility: Compatibility = .own) {
        self.name = name
        self.sql = sql
        self.postgres = postgres
        self.compatibility = compatibility
        index = nil
        change = nil
    }

    package init(name: String, change: @escaping @Sendable (Connection) throws -> Void) {
        self.name = name
        self.change = change
        sql = ""
        postgres = ""
        compatibility = .own
        index = nil
    }

    /// - Parameters:
    ///   - sql: `CREATE INDEX …` or `CREATE UNIQUE INDEX …`.
    ///   - index: its name. An index that is not unique is expanding.
    package init(name: String, sql: String, index: String) {
        self.name = name
        self.sql = sql
        self.index = index
        postgres = sql
        compatibility = sql.contains(" UNIQUE ") ? .own : .expanding
        change = nil
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
                try execute(
                    "INSERT INTO migrations (name, number) SELECT $1, count(*) + 1 FROM migrations", migration.name)
                try execute("COMMIT")
            } catch {
                if isInTransaction { try execute("ROLLBACK") }
                throw error
            }
        }
    }
}

extension ReadConnection {
    /// Returns the migrations that the database does not have, in order, without dormant ones.
    ///
    /// - Throws: `newerSchema` if it has one that is not among them, and that a program must have.
    package func pending(_ migrations: [Migration]) throws -> [Migration] {
        let applied = session.isRemote ? try appliedOnServer() : try appliedInFile()
        let known = Set(migrations.map(\.name))
        for (name, lowest) in applied where !known.contains(name) {
            // The program can use a schema with later steps that allow for it.
            guard let lowest, lowest.isEmpty || known.contains(lowest) else {
                throw DatabaseError.newerSchema(migration: name)
            }
        }
        let names = Set(applied.map(\.name))
        return migrations.filter { !$0.isDormant && !names.contains($0.name) }
    }

    private func appliedInFile() throws -> [(name: String, lowest: String?)] {
        try query("SELECT name FROM migrations ORDER BY number") { ($0.text("name"), nil) }
    }

    private func appliedOnServer() throws -> [(name: String, lowest: String?)] {
        try query("SELECT name, lowest_migration FROM migrations ORDER BY number") { row in
            (row.text("name"), row.isNull("lowest_migration") ? nil : row.text("lowest_migration"))
        }
    }
}
