import CSQLite

/// A connection to the database, used by one thread at a time: the writer's inside ``Database/write(_:)``, a read-only one inside
/// ``Database/read(_:)``. It must not leave the closure that received it.
///
/// Parameters are `$1`, `$2`, … and are bound by number, so they may be repeated and in any order. Prepared statements are cached
/// by their SQL text: use constant texts, and never put values into them.
package final class Connection {
    enum Mode {
        case writer
        case reader
        /// A file that nothing writes: it needs no lock, and no file is created beside it.
        case immutable
    }

    /// The number of cached statements; beyond it all are dropped, so that generated filters do not use up memory.
    private static let cachedStatements = 256

    /// The longest wait for a lock of another connection, in milliseconds.
    private static let patience: Int32 = 5000
    /// The longest wait for readers of the log, during which every write waits, in milliseconds.
    private static let restartBusyTimeout: Int32 = 25

    let handle: OpaquePointer
    private var statements: [String: Statement] = [:]
    /// The log's pages after the last commit; SQLite's hook updates it.
    private let logged: UnsafeMutablePointer<Int32>

    init(path: String, mode: Mode) throws {
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
            throw DatabaseError(code: code, message: message)
        }
        handle = opened
        logged = .allocate(capacity: 1)
        logged.initialize(to: 0)
        sqlite3_busy_timeout(handle, Self.patience)
        try configure(mode)
    }

    deinit {
        statements.removeAll()
        sqlite3_close_v2(handle)
        logged.deallocate()
    }

    private func configure(_ mode: Mode) throws {
        csqlite_set_flag(handle, SQLITE_DBCONFIG_DEFENSIVE, 1)
        csqlite_set_flag(handle, SQLITE_DBCONFIG_TRUSTED_SCHEMA, 0)
        switch mode {
        case .writer:
            // If the file system has no shared memory for the log, SQLite keeps another mode without an error.
            guard try first("PRAGMA journal_mode = WAL", row: { $0.text("journal_mode") }) == "wal" else {
                throw DatabaseError.failed(
                    code: SQLITE_CANTOPEN, message: "the file system cannot hold a write-ahead log: use a local disk")
            }
            // "FULL: the WAL file is synced after each transaction commit": acknowledged writes survive a power loss.
            try execute("PRAGMA synchronous = FULL")
            try execute("PRAGMA foreign_keys = ON")
            // In bytes. A log that had to grow further is truncated to this size when it starts over.
            try execute("PRAGMA journal_size_limit = 16777216")
            // Replaces SQLite's own hook, whose automatic checkpoints ignore their errors.
            let countPages:
                @convention(c) (UnsafeMutableRawPointer?, OpaquePointer?, UnsafePointer<CChar>?, Int32) -> Int32
            countPages = { logged, _, _, pages in
                logged?.storeBytes(of: pages, as: Int32.self)
                return SQLITE_OK
            }
            sqlite3_wal_hook(handle, countPages, logged)
            // In KiB. Enough for the pages of a transaction and the upper levels of the trees; the page cache holds the file.
            try execute("PRAGMA cache_size = -4096")
        case .reader:
            // SQLite before 3.51.3 can corrupt the file when two connections checkpoint at once: only the writer does.
            csqlite_set_flag(handle, SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, 1)
            try execute("PRAGMA query_only = ON")
            // In KiB. Enough for one query; there may be many readers.
            try execute("PRAGMA cache_size = -512")
        case .immutable:
            try execute("PRAGMA cache_size = -4096")
        }
        try execute("PRAGMA temp_store = MEMORY")
    }

    /// Escapes "?", "#" and "%" of the path (sqlite.org/uri.html).
    private static func immutableURI(_ path: String) -> String {
        let escaped = path.replacing("%", with: "%25").replacing("?", with: "%3f").replacing("#", with: "%23")
        return "file:\(escaped)?immutable=1"
    }

    /// Runs one statement; rows that it returns are ignored.
    ///
    /// - Returns: the number of changed rows.
    @discardableResult
    package func execute(_ sql: String, _ arguments: (any Bindable)?...) throws(DatabaseError) -> Int {
        try execute(sql, arguments: arguments)
    }

    /// Runs a statement whose number of arguments is known only at run time.
    @discardableResult
    package func execute(_ sql: String, arguments: [(any Bindable)?]) throws(DatabaseError) -> Int {
        let statement = try start(sql, arguments)
        defer { statement.reset() }
        while try statement.step() {}
        return Int(sqlite3_changes64(handle))
    }

    /// Returns all rows, in the order of the statement.
    package func query<T>(
        _ sql: String, _ arguments: (any Bindable)?..., row: (Row) throws -> T
    ) throws -> [T] {
        try query(sql, arguments: arguments, row: row)
    }

    /// Returns all rows of a statement whose number of arguments is known only at run time.
    package func query<T>(
        _ sql: String, arguments: [(any Bindable)?], row: (Row) throws -> T
    ) throws -> [T] {
        let statement = try start(sql, arguments)
        defer { statement.reset() }
        var rows: [T] = []
        while try statement.step() { rows.append(try row(Row(statement: statement))) }
        return rows
    }

    /// Returns the first row without reading further ones; `nil` for an empty result.
    package func first<T>(
        _ sql: String, _ arguments: (any Bindable)?..., row: (Row) throws -> T
    ) throws -> T? {
        let statement = try start(sql, arguments)
        defer { statement.reset() }
        return try statement.step() ? row(Row(statement: statement)) : nil
    }

    /// Whether a statement has a row; it is not read further.
    package func hasRow(_ sql: String, _ arguments: (any Bindable)?...) throws(DatabaseError) -> Bool {
        let statement = try start(sql, arguments)
        defer { statement.reset() }
        return try statement.step()
    }

    /// Runs any number of statements without arguments.
    func executeScript(_ sql: String) throws(DatabaseError) {
        let code = sqlite3_exec(handle, sql, nil, nil, nil)
        guard code == SQLITE_OK else { throw error(code) }
    }

    /// Whether a transaction is open. The engine may end one by rolling it back after an error.
    var isInTransaction: Bool {
        sqlite3_get_autocommit(handle) == 0
    }

    /// Whether a transaction was opened. A statement after the engine rolled it back would be a transaction of its own, so it is
    /// refused.
    var expectsTransaction = false

    /// The effects that the current write has requested; see ``afterCommit(_:)``.
    private var effects: [@Sendable () -> Void] = []

    /// Runs `effect` after this write is on disk: on the writer's thread, before the caller of the write gets the result, and in
    /// the order of the calls. A write that is rolled back, or whose outcome is unknown, has no effects.
    ///
    /// This is the only way to act on a commit. `effect` must be quick; it may read the database and submit writes, but must not
    /// wait for one.
    package func afterCommit(_ effect: @escaping @Sendable () -> Void) {
        preconditionWriting("afterCommit")
        effects.append(effect)
    }

    /// Traps if `function` was called outside a write.
    func preconditionWriting(_ function: StaticString) {
        precondition(expectsTransaction, "\(function) was called in a read: only a write may.")
    }

    /// Returns the effects requested since the last call.
    func takeEffects() -> [@Sendable () -> Void] {
        defer { effects = [] }
        return effects
    }

    /// The number of pages in the write-ahead log after the latest commit of this connection.
    var loggedPages: Int {
        Int(logged.pointee)
    }

    /// The behavior of a checkpoint towards readers.
    enum Checkpoint {
        /// Does not wait, and moves the pages that no reader needs in their old state.
        case passive
        /// Waits for readers, some tens of milliseconds at most, so that the log can start over.
        case restarting
        /// Waits for readers, some seconds at most, and truncates the log to zero.
        case truncating
    }

    /// Moves the contents of the write-ahead log into the database file.
    func checkpoint(_ kind: Checkpoint) throws(DatabaseError) {
        let mode =
            switch kind {
            case .passive: SQLITE_CHECKPOINT_PASSIVE
            case .restarting: SQLITE_CHECKPOINT_RESTART
            case .truncating: SQLITE_CHECKPOINT_TRUNCATE
            }
        if kind == .restarting { sqlite3_busy_timeout(handle, Self.restartBusyTimeout) }
        defer { if kind == .restarting { sqlite3_busy_timeout(handle, Self.patience) } }
        let code = sqlite3_wal_checkpoint_v2(handle, nil, mode, nil, nil)
        guard code == SQLITE_OK || code == SQLITE_BUSY else { throw error(code) }
    }

    /// Moves the contents of the log after an unclean shutdown into the database file, and empties the log, durably.
    ///
    /// A full disk does not prevent a start: the log is durable, and can be emptied once there is space.
    func recover(_ log: WriteAheadLog) throws(DatabaseError) {
        let code = sqlite3_wal_checkpoint_v2(handle, nil, SQLITE_CHECKPOINT_TRUNCATE, nil, nil)
        if code & 0xFF == SQLITE_FULL { return }
        guard code == SQLITE_OK else {
            throw code & 0xFF == SQLITE_BUSY ? .locked : error(code)
        }
        try log.synchronize()
    }

    /// Prevents a checkpoint when the connection closes, because it is unknown how much of the log is on the disk.
    func keepLogOnClose() {
        csqlite_set_flag(handle, SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, 1)
    }

    private func start(_ sql: String, _ arguments: [(any Bindable)?]) throws(DatabaseError) -> Statement {
        if expectsTransaction && !isInTransaction { throw .rolledBack }
        let statement = try statement(sql)
        try statement.bind(arguments)
        statement.isRunning = true
        return statement
    }

    private func statement(_ sql: String) throws(DatabaseError) -> Statement {
        if let known = statements[sql] {
            if !known.isRunning { return known }
            return try Statement(sql, on: handle)
        }
        if statements.count >= Self.cachedStatements { statements.removeAll(keepingCapacity: true) }
        let new = try Statement(sql, on: handle)
        statements[sql] = new
        return new
    }

    private func error(_ code: Int32) -> DatabaseError {
        DatabaseError(code: code, message: String(cString: sqlite3_errmsg(handle)))
    }
}
