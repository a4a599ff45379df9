import Basics
import Glibc
import Synchronization

/// The copy of a schema on a server into a SQLite file, while gateways write.
///
/// One snapshot of all rows would keep the server from removing the versions of rows that have changed since, and counters that
/// change with each part would get slower all the time. So each page of a table is read in a snapshot of its own. Afterwards a last
/// snapshot reads only the rows that have changed since the beginning, by the transaction that wrote each of them (`xmin`), and
/// removes what was deleted meanwhile: the file has the state of that snapshot.
final class ServerExport {
    /// The longest statement: one that looks for changed rows reads a whole table.
    private static let readTimeout = Duration.seconds(300)
    /// The rows that may be left for the last snapshot, and the times that changed rows are read before it.
    private static let changedRows = 10_000
    private static let rounds = 4
    /// The rows of a range whose keys are compared one by one.
    private static let comparedKeys = 2000

    private let server: PostgresServer
    private let source: ReadConnection
    private let target: Connection
    private let tables: [TableLayout]
    private let isCancelled: () -> Bool

    /// - Parameters:
    ///   - path: an empty file.
    ///   - migrations: create its tables.
    init(
        _ server: PostgresServer, to path: String, _ migrations: [Migration], isCancelled: @escaping () -> Bool
    ) throws {
        var patient = server
        patient.readTimeout = Self.readTimeout
        self.server = patient
        self.isCancelled = isCancelled
        source = ReadConnection(try PostgresSession(patient, .reader))
        let session = try SQLiteSession(path: path, mode: .writer)
        target = Connection(session)
        // The caller syncs the file when it is complete.
        try session.executeScript("PRAGMA synchronous = OFF; PRAGMA foreign_keys = OFF")
        // The schema on the server has the tables of all modules.
        try target.migrate(migrations.map(\.used))
        tables = try target.tableLayouts()
    }

    func run() throws {
        let triggers = try target.query("SELECT name, sql FROM sqlite_master WHERE type = 'trigger'") { row in
            (name: row.text("name"), sql: row.text("sql"))
        }
        // Rows that triggers would add are among those of the server.
        for trigger in triggers { try target.execute("DROP TRIGGER \(TableLayout.quoted(trigger.name))") }
        for table in tables { try target.execute("DELETE FROM \(table.quotedName)") }
        var since = try reading { try self.oldestTransaction($0) }
        for table in tables { try copy(table) }
        for _ in 0..<Self.rounds {
            let next = try reading { try self.oldestTransaction($0) }
            let changed = try tables.reduce(0) { count, table in
                try count + reading { try self.copyChanges(of: table, since: since, $0) }
            }
            since = next
            if changed <= Self.changedRows { break }
        }
        try reading { source in
            for table in self.tables { try self.copyChanges(of: table, since: since, source) }
            for table in self.tables where !table.key.isEmpty { try self.removeDeleted(table, source) }
            try self.copyNumbers(source)
        }
        for trigger in triggers { try target.execute(trigger.sql) }
        guard try !target.hasRow("SELECT 1 FROM pragma_foreign_key_check") else {
            throw DatabaseError.misuse("the copy of the database has references to rows that it lacks")
        }
        try target.session.executeScript("PRAGMA wal_checkpoint(TRUNCATE)")
    }

    /// Runs `body` on a snapshot of its own.
    @discardableResult
    private func reading<T>(_ body: (ReadConnection) throws -> T) throws -> T {
        if isCancelled() { throw CancellationError() }
        try source.session.begin()
        do {
            let value = try body(source)
            try source.session.commit()
            return value
        } catch {
            if source.isInTransaction { try? source.session.control("ROLLBACK") }
            throw error
        }
    }

    /// Runs `body` in a transaction of the file.
    private func writing<T>(_ body: () throws -> T) throws -> T {
        try target.session.begin()
        let value = try body()
        try target.session.commit()
        return value
    }

    /// Returns the oldest transaction that has not ended. Each later snapshot has the rows of all before it.
    private func oldestTransaction(_ source: ReadConnection) throws -> String {
        let query = "SELECT CAST(CAST(pg_snapshot_xmin(pg_current_snapshot()) AS xid) AS text) AS oldest"
        guard let oldest = try source.first(query, row: { $0.text("oldest") }) else {
            throw DatabaseError.misuse("the server has no snapshot")
        }
        return oldest
    }

    private func copy(_ table: TableLayout) throws {
        // Rows of one without a key are replaced at the end.
        guard !table.key.isEmpty else { return }
        var rows = TableRows(of: table)
        while let page = try reading({ try rows.next($0) }) {
            try writing { for row in page { try replace(row, in: table) } }
        }
    }

    /// A row takes the place of those with the same key, or another unique value: they have changed or were deleted since.
    private func replace(_ row: [SQLValue], in table: TableLayout) throws {
        try target.execute(
            """
            INSERT OR REPLACE INTO \(table.quotedName) (\(table.columnNames)) VALUES (\(ParameterList.text(row.count)))
            """, arguments: row)
    }

    /// Copies the rows that no snapshot before `oldest` has.
    ///
    /// - Returns: their number.
    @discardableResult
    private func copyChanges(of table: TableLayout, since oldest: String, _ source: ReadConnection) throws -> Int {
        try writing {
            guard !table.key.isEmpty else {
                try target.execute("DELETE FROM \(table.quotedName)")
                return try copyRows(of: table, source, where: "")
            }
            return try copyRows(of: table, source, where: "WHERE age(xmin) <= age(CAST($1 AS xid))", oldest)
        }
    }

    /// Copies rows one at a time.
    private func copyRows(
        of table: TableLayout, _ source: ReadConnection, where condition: String, _ arguments: (any Bindable)?...
    ) throws -> Int {
        var count = 0
        try source.forEach("SELECT \(table.columnNames) FROM \(table.quotedName) \(condition)", arguments: arguments) {
            row in
            if count.isMultiple(of: 1000), isCancelled() { throw CancellationError() }
            try replace(table.values(of: row), in: table)
            count += 1
        }
        return count
    }

    /// Removes the rows that the server has no more. The file has all others, so only ranges of keys are read of which it has more
    /// rows.
    private func removeDeleted(_ table: TableLayout, _ source: ReadConnection) throws {
        var ranges = [KeyRange(table: table)]
        while let range = ranges.popLast() {
            let (here, there) = (try range.count(target), try range.count(source))
            guard here != there else { continue }
            guard here > Self.comparedKeys, let middle = try range.key(at: here / 2, target) else {
                try removeDeleted(in: range, source)
                continue
            }
            ranges += [range.ending(before: middle), range.beginning(at: middle)]
        }
    }

    private func removeDeleted(in range: KeyRange, _ source: ReadConnection) throws {
        let kept = Set(try range.keys(source))
        let table = range.table
        let condition = table.key.enumerated().map { "\(TableLayout.quoted(table.columns[$1].name)) = $\($0 + 1)" }
        try writing {
            for key in try range.keys(target) where !kept.contains(key) {
                try target.execute(
                    "DELETE FROM \(table.quotedName) WHERE \(condition.joined(separator: " AND "))", arguments: key)
            }
        }
    }

    /// Continues the numbers of rows where the server has ended, so that none is used twice.
    private func copyNumbers(_ source: ReadConnection) throws {
        for table in tables {
            guard let column = table.numberColumn else { continue }
            let sequence = try source.first(
                "SELECT pg_get_serial_sequence($1, $2) AS name", "\(server.quotedSchema).\(table.quotedName)", column
            ) { $0.optionalText("name") }
            guard let name = sequence ?? nil else { continue }
            let last = try source.first("SELECT CASE WHEN is_called THEN last_value ELSE 0 END AS last FROM \(name)") {
                $0.int64("last")
            }
            guard let last, last > 0 else { continue }
            try target.execute("DELETE FROM sqlite_sequence WHERE name = $1", table.name)
            try target.execute("INSERT INTO sqlite_sequence (name, seq) VALUES ($1, $2)", table.name, last)
        }
    }
}
