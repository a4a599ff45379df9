import Basics
import CSQLite

/// A connection that only reads: the connection of ``Database/read(_:)``, and what ``Connection`` has in common with it. One thread
/// at a time uses it, and it must not leave the closure that received it.
///
/// A read cannot change anything: this type has no method that does, a statement that writes fails with ``DatabaseError/misuse(_:)``
/// when it is prepared, and SQLite has the file open for reading only.
///
/// Parameters are `$1`, `$2`, … and are bound by number, so they may be repeated and in any order. Prepared statements are cached
/// by their SQL text: use constant texts, and never put values into them.
package class ReadConnection {
    enum Mode {
        /// The mode of ``Connection``.
        case writer
        case reader
        /// A file that nothing writes: it needs no lock, and no file is created beside it.
        case immutable
    }

    /// The number of cached statements; beyond it all are dropped, so that generated filters do not use up memory.
    private static let cachedStatements = 256

    /// The longest wait for a lock of another connection, in milliseconds.
    static let busyTimeout: Int32 = 5000

    final let handle: OpaquePointer
    private final let mode: Mode
    private final var statements: [String: Statement] = [:]

    /// Whether a statement of the running closure has failed; `nil` = none runs. The closure has to end with an error then: PostgreSQL
    /// refuses all further statements. SQLite would run and commit them, outside the transaction if the failure has rolled it back.
    private final var closureHasFailed: Bool?

    /// The settings of SQLite for the whole process, which are made before its first connection.
    private static let processSettings: Void = {
        csqlite_disable_memory_statistics()
    }()

    init(path: String, mode: Mode) throws(DatabaseError) {
        Self.processSettings
        let access = mode == .writer ? SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE : SQLITE_OPEN_READONLY
        var opened: OpaquePointer?
        // NOMUTEX, because this type itself requires one thread at a time.
        let flags = access | SQLITE_OPEN_NOMUTEX | SQLITE_OPEN_EXRESCODE
        let code =
            mode == .immutable
            ? sqlite3_open_v2(Self.immutableURI(path), &opened, flags | SQLITE_OPEN_URI, nil)
            : sqlite3_open_v2(path, &opened, flags, nil)
        guard code == SQLITE_OK, let opened else {
            let message = opened.map { String(cString: sqlite3_errmsg($0)) } ?? "out of memory"
            sqlite3_close_v2(opened)
            throw DatabaseError(code: code, message: message, path: path)
        }
        handle = opened
        self.mode = mode
        sqlite3_busy_timeout(handle, Self.busyTimeout)
        csqlite_set_flag(handle, SQLITE_DBCONFIG_DEFENSIVE, 1)
        csqlite_set_flag(handle, SQLITE_DBCONFIG_TRUSTED_SCHEMA, 0)
        switch mode {
        case .writer:
            break
        case .reader:
            // SQLite before 3.51.3 can corrupt the file when two connections checkpoint at once: only the writer does.
            csqlite_set_flag(handle, SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, 1)
            try executeScript("PRAGMA query_only = ON")
            // In KiB. Enough for one query; there may be many readers.
            try executeScript("PRAGMA cache_size = -512")
        case .immutable:
            try executeScript("PRAGMA cache_size = -4096")
        }
        try executeScript("PRAGMA temp_store = MEMORY")
        try defineFunctions()
    }

    deinit {
        statements.removeAll()
        sqlite3_close_v2(handle)
    }

    /// Escapes "?", "#" and "%" of the path (sqlite.org/uri.html).
    private static func immutableURI(_ path: String) -> String {
        let escaped = path.replacing(bytes: ["%": "%25", "?": "%3f", "#": "%23"])
        return "file:\(escaped)?immutable=1"
    }

    /// Returns all rows, in the order of the statement.
    package final func query<T>(
        _ sql: String, _ arguments: (any Bindable)?..., row: (Row) throws -> T
    ) throws -> [T] {
        try query(sql, arguments: arguments, row: row)
    }

    /// Returns all rows of a statement whose number of arguments is known only at run time.
    package final func query<T>(
        _ sql: String, arguments: [(any Bindable)?], row: (Row) throws -> T
    ) throws -> [T] {
        let statement = try start(sql, arguments)
        defer { statement.reset() }
        var rows: [T] = []
        while try step(statement) { rows.append(try row(Row(statement: statement))) }
        return rows
    }

    /// Returns the first row without reading further ones; `nil` for an empty result.
    package final func first<T>(
        _ sql: String, _ arguments: (any Bindable)?..., row: (Row) throws -> T
    ) throws -> T? {
        let statement = try start(sql, arguments)
        defer { statement.reset() }
        return try step(statement) ? row(Row(statement: statement)) : nil
    }

    /// Whether a statement has a row; it is not read further.
    package final func hasRow(_ sql: String, _ arguments: (any Bindable)?...) throws(DatabaseError) -> Bool {
        let statement = try start(sql, arguments)
        defer { statement.reset() }
        return try step(statement)
    }

    /// Runs a statement that controls transactions, such as BEGIN or ROLLBACK.
    final func control(_ sql: String) throws(DatabaseError) {
        let statement = try start(sql, [])
        defer { statement.reset() }
        while try statement.step() {}
    }

    /// Runs the closure of a transaction, or of a part with its own savepoint.
    ///
    /// - Throws: also ``DatabaseError/misuse(_:)`` if a statement failed and `body` did not.
    final func requiringStatements<T>(_ body: () throws -> T) throws -> T {
        closureHasFailed = false
        defer { closureHasFailed = nil }
        let value = try body()
        if closureHasFailed == true { throw Self.continued }
        return value
    }

    private static let continued = DatabaseError.misuse(
        "a transaction continues after one of its statements has failed")

    /// Runs any number of statements without arguments.
    final func executeScript(_ sql: String) throws(DatabaseError) {
        let code = sqlite3_exec(handle, sql, nil, nil, nil)
        guard code == SQLITE_OK else { throw error(code) }
    }

    /// Whether a transaction is open. The engine may end one by rolling it back after an error.
    final var isInTransaction: Bool {
        sqlite3_get_autocommit(handle) == 0
    }

    final func start(_ sql: String, _ arguments: [(any Bindable)?]) throws(DatabaseError) -> Statement {
        if closureHasFailed == true { throw Self.continued }
        let statement = try statement(sql)
        try statement.bind(arguments)
        statement.isRunning = true
        return statement
    }

    final func step(_ statement: Statement) throws(DatabaseError) -> Bool {
        do {
            return try statement.step()
        } catch {
            if closureHasFailed != nil { closureHasFailed = true }
            throw error
        }
    }

    private final func statement(_ sql: String) throws(DatabaseError) -> Statement {
        if let known = statements[sql] {
            if !known.isRunning { return known }
            return try prepare(sql)
        }
        if statements.count >= Self.cachedStatements { statements.removeAll(keepingCapacity: true) }
        let new = try prepare(sql)
        statements[sql] = new
        return new
    }

    private final func prepare(_ sql: String) throws(DatabaseError) -> Statement {
        let statement = try Statement(sql, on: handle)
        guard mode == .writer || statement.isReadOnly else {
            throw .misuse("a read connection cannot run a statement that writes: \(sql)")
        }
        return statement
    }

    final func error(_ code: Int32) -> DatabaseError {
        DatabaseError(code: code, on: handle)
    }
}
