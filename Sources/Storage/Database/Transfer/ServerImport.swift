import Basics

/// The copy of a SQLite file into a schema on a server that has no tables yet.
///
/// It is one transaction, with the writer's lock, so that after any failure the schema is as before. All rows are read again and
/// compared before it is committed.
struct ServerImport {
    /// The rows of one statement. Few texts are prepared, and a message has some thousand arguments at most.
    private static let rowsInStatement = 50
    /// The longest statement, such as ANALYZE of a large table.
    private static let statementLimit = Duration.seconds(3600)

    private let source: ReadConnection
    private let target: Connection
    private let server: PostgresServer

    /// - Parameter source: a file with all migrations, which no process writes.
    init(from source: ReadConnection, to server: PostgresServer) throws {
        var patient = server
        patient.writeTimeout = Self.statementLimit
        self.source = source
        self.server = patient
        target = Connection(try PostgresSession(patient, .writer))
    }

    /// Copies all rows.
    ///
    /// - Parameter baseline: the statements that create the tables.
    /// - Throws: ``DatabaseError/unsuitable(_:)`` if the schema has tables with other rows, or a row cannot be stored.
    func run(baseline: String, _ migrations: [Migration]) throws -> CopiedRows {
        let tables = try source.tableLayouts()
        try target.session.begin()
        do {
            try target.session.executeScript(
                "SET LOCAL statement_timeout = 0; SET LOCAL idle_in_transaction_session_timeout = 0")
            let isNew = try target.create(baseline, migrations, on: server)
            if isNew { try fill(tables) }
            var rows = try compare(tables, isNew: isNew)
            rows.isNew = isNew
            try target.session.commit()
            return rows
        } catch {
            if target.isInTransaction { try? target.session.control("ROLLBACK") }
            throw error
        }
    }

    private func fill(_ tables: [TableLayout]) throws {
        let versions = try tablesOfVersions()
        // Rows that triggers would add are among those of the file. The trigger of a counter adds the row itself, as its first version.
        let silenced = tables.filter { versions[$0.name] == nil }
        for table in silenced {
            try target.session.executeScript("ALTER TABLE \(table.quotedName) DISABLE TRIGGER USER")
        }
        for table in tables.reversed() { try target.session.executeScript("DELETE FROM \(table.quotedName)") }
        for table in tables { try copy(table) }
        try copyNumbers(tables)
        for table in silenced {
            try target.session.executeScript("ALTER TABLE \(table.quotedName) ENABLE TRIGGER USER")
        }
        // Without statistics, plans would be those of empty tables until the server has made them.
        for name in tables.map(\.name) + versions.values.sorted() {
            try target.session.executeScript("ANALYZE \(TableLayout.quoted(name))")
        }
    }

    /// Returns the tables with the versions of counters, by the names of the counters.
    private func tablesOfVersions() throws -> [String: String] {
        let pairs = try target.query(
            """
            SELECT counter.relname::text AS counter, versions.relname::text AS versions FROM pg_inherits
                JOIN pg_class counter ON counter.oid = inhparent JOIN pg_class versions ON versions.oid = inhrelid
                JOIN pg_namespace schema ON schema.oid = counter.relnamespace
            WHERE schema.nspname = current_schema()
            """
        ) { ($0.text("counter"), $0.text("versions")) }
        return Dictionary(uniqueKeysWithValues: pairs)
    }

    private func copy(_ table: TableLayout) throws {
        var rows = TableRows(of: table)
        while let page = try rows.next(source) {
            var rest = page[...]
            while !rest.isEmpty {
                let part = rest.prefix(rest.count < Self.rowsInStatement ? 1 : Self.rowsInStatement)
                try insert(part, into: table)
                rest = rest.dropFirst(part.count)
            }
        }
    }

    private func insert(_ rows: ArraySlice<[SQLValue]>, into table: TableLayout) throws {
        let width = table.columns.count
        let values = (0..<rows.count).map { "(\(ParameterList.text(width, from: $0 * width + 1)))" }
        let sql = "INSERT INTO \(table.quotedName) (\(table.columnNames)) VALUES \(values.joined(separator: ", "))"
        for row in rows where row.contains(where: \.hasNullCharacter) {
            throw DatabaseError.unsuitable(
                """
                \(table.describe(row)) has a text with the character U+0000, which PostgreSQL does not store: change it with the \
                gateway on SQLite
                """)
        }
        try target.executeSoon(sql, arguments: rows.flatMap { $0 })
    }

    /// Continues the numbers of rows where the file has ended, so that none is used twice.
    private func copyNumbers(_ tables: [TableLayout]) throws {
        let numbers = try source.query("SELECT name, seq FROM sqlite_sequence WHERE seq > 0") { row in
            (table: row.text("name"), last: row.int64("seq"))
        }
        for table in tables {
            guard let column = table.numberColumn, let last = numbers.first(where: { $0.table == table.name })?.last
            else { continue }
            _ = try target.hasRow(
                "SELECT setval(pg_get_serial_sequence($1, $2), CAST($3 AS BIGINT)) AS value",
                "\(server.quotedSchema).\(table.quotedName)", column, last)
        }
    }

    private func compare(_ tables: [TableLayout], isNew: Bool) throws -> CopiedRows {
        let (rows, difference) = try tables.difference(source, target)
        guard let difference else { return rows }
        throw DatabaseError.unsuitable(
            isNew
                ? "the copy is not equal to the file: \(difference)"
                : """
                the schema \(server.schema) has tables already, and other rows than the file (\(difference)): name another schema, or \
                remove this one
                """)
    }
}

extension SQLValue {
    fileprivate var hasNullCharacter: Bool { if case .text(let text) = self { text.utf8.contains(0) } else { false } }
}

extension Database {
    /// Copies a SQLite file into a schema on a server that has no tables yet, in one transaction. All rows are compared before it is
    /// committed. No gateway uses the file meanwhile.
    ///
    /// - Parameters:
    ///   - path: the file; it gets the migrations that it lacks.
    ///   - baseline: the statements that create the tables.
    /// - Throws: ``DatabaseError``; the schema is unchanged then.
    package static func copy(
        file path: String, to server: PostgresServer, baseline: String, migrations: [Migration]
    ) throws -> CopiedRows {
        try Database(path: path, migrations: migrations).close()
        return try inspect(path: path) { source in
            try ServerImport(from: source, to: server).run(baseline: baseline, migrations)
        }
    }

    /// Compares all rows of a database that nobody writes with those of a copy.
    ///
    /// - Throws: ``DatabaseError/unsuitable(_:)`` if a row differs.
    package func requireSameRows(as copy: String) throws -> CopiedRows {
        try Self.inspect(path: copy) { copy in
            let (rows, difference) = try readBlocking { try copy.tableLayouts().difference($0, copy) }
            if let difference { throw DatabaseError.unsuitable("the copy is not equal to the database: \(difference)") }
            return rows
        }
    }
}
