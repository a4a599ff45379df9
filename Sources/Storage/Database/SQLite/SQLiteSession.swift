import Basics
import CSQLite

/// A connection to a SQLite file.
final class SQLiteSession: DatabaseSession {
    enum Mode {
        case writer
        case reader
        /// A file that nothing writes: it needs no lock, and no file is created beside it.
        case immutable
    }

    /// The longest wait for a lock of another connection, in milliseconds.
    private static let busyTimeout: Int32 = 5000

    /// The longest wait of the writer for readers of the log, during which every write waits, in milliseconds.
    private static let restartBusyTimeout: Int32 = 25

    let handle: OpaquePointer
    private let mode: Mode
    /// The log's pages after the writer's last commit; SQLite's hook updates it.
    private var logged: UnsafeMutablePointer<Int32>?

    /// The settings of SQLite for the whole process, which are made before its first connection.
    private static let processSettings: Void = {
        csqlite_disable_memory_statistics()
    }()

    init(path: String, mode: Mode) throws(DatabaseError) {
        Self.processSettings
        let access = mode == .writer ? SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE : SQLITE_OPEN_READONLY
        var opened: OpaquePointer?
        // NOMUTEX, because a connection itself requires one thread at a time.
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
        super.init()
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
        if mode == .writer { try configureWriter() }
    }

    deinit {
        // Otherwise they would keep the connection open.
        releaseStatements()
        sqlite3_wal_hook(handle, nil, nil)
        sqlite3_close_v2(handle)
        logged?.deallocate()
    }

    /// Escapes "?", "#" and "%" of the path (sqlite.org/uri.html).
    private static func immutableURI(_ path: String) -> String {
        let escaped = path.replacing(bytes: ["%": "%25", "?": "%3f", "#": "%23"])
        return "file:\(escaped)?immutable=1"
    }

    private func configureWriter() throws(DatabaseError) {
        // If the file system has no shared memory for the log, SQLite keeps another mode without an error.
        guard try value("PRAGMA journal_mode = WAL") == "wal" else {
            throw .failed(
                code: SQLITE_CANTOPEN, message: "the file system cannot hold a write-ahead log: use a local disk")
        }
        // "FULL: the WAL file is synced after each transaction commit": acknowledged writes survive a power loss.
        try executeScript("PRAGMA synchronous = FULL")
        try executeScript("PRAGMA foreign_keys = ON")
        // In bytes. A log that had to grow further is truncated to this size when it starts over.
        try executeScript("PRAGMA journal_size_limit = 16777216")
        // Replaces SQLite's own hook, whose automatic checkpoints ignore their errors.
        let pages = UnsafeMutablePointer<Int32>.allocate(capacity: 1)
        pages.initialize(to: 0)
        logged = pages
        let countPages: @convention(c) (UnsafeMutableRawPointer?, OpaquePointer?, UnsafePointer<CChar>?, Int32) -> Int32
        countPages = { logged, _, _, pages in
            logged?.storeBytes(of: pages, as: Int32.self)
            return SQLITE_OK
        }
        sqlite3_wal_hook(handle, countPages, pages)
        // In KiB. Enough for the pages of a transaction and the upper levels of the trees; the page cache holds the file.
        try executeScript("PRAGMA cache_size = -4096")
    }

    /// Returns the only value of a statement.
    private func value(_ sql: String) throws(DatabaseError) -> String? {
        let statement = try SQLiteStatement(sql, on: handle)
        return try statement.step() ? statement.text(0) : nil
    }

    override func prepare(_ sql: String) throws(DatabaseError) -> Statement {
        let statement = try SQLiteStatement(sql, on: handle)
        guard mode == .writer || statement.isReadOnly else {
            throw .misuse("a read connection cannot run a statement that writes: \(sql)")
        }
        return statement
    }

    override func begin() throws(DatabaseError) {
        try control(mode == .writer ? "BEGIN IMMEDIATE" : "BEGIN")
    }

    override func commit() throws(DatabaseError) {
        try control("COMMIT")
    }

    override func control(_ sql: String) throws(DatabaseError) {
        let statement = try statement(sql)
        defer { statement.reset() }
        while try statement.step() {}
    }

    override func executeScript(_ sql: String) throws(DatabaseError) {
        let code = sqlite3_exec(handle, sql, nil, nil, nil)
        guard code == SQLITE_OK else { throw error(code) }
    }

    override var isInTransaction: Bool { sqlite3_get_autocommit(handle) == 0 }

    override var file: SQLiteSession? { self }

    func error(_ code: Int32) -> DatabaseError {
        DatabaseError(code: code, on: handle)
    }
}

/// The write-ahead log, which the writer's session moves into the file.
extension SQLiteSession {
    /// The number of pages in the write-ahead log after the latest commit of this session.
    var loggedPages: Int { Int(logged?.pointee ?? 0) }

    /// The behavior of a checkpoint towards readers.
    enum Checkpoint {
        /// Does not wait, and moves the pages that no reader needs in their old state.
        case passive
        /// Waits for readers, some tens of milliseconds at most, so that the log can start over.
        case restarting
        /// Waits for readers, some seconds at most, and truncates the log to zero.
        case truncating
    }

    /// Moves the contents of the write-ahead log into the database file, as far as readers permit.
    @discardableResult
    func checkpoint(_ kind: Checkpoint) throws(DatabaseError) -> CheckpointWatch.Outcome {
        let mode =
            switch kind {
            case .passive: SQLITE_CHECKPOINT_PASSIVE
            case .restarting: SQLITE_CHECKPOINT_RESTART
            case .truncating: SQLITE_CHECKPOINT_TRUNCATE
            }
        if kind == .restarting { sqlite3_busy_timeout(handle, Self.restartBusyTimeout) }
        defer { if kind == .restarting { sqlite3_busy_timeout(handle, Self.busyTimeout) } }
        // -1 = unknown, if another connection makes a checkpoint.
        var (logged, moved): (Int32, Int32) = (-1, -1)
        let code = sqlite3_wal_checkpoint_v2(handle, nil, mode, &logged, &moved)
        guard code == SQLITE_OK || code == SQLITE_BUSY else { throw error(code) }
        return CheckpointWatch.Outcome(logged: logged < 0 ? nil : Int(logged), moved: Int(moved))
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

    /// Prevents a checkpoint when the session closes, because it is unknown how much of the log is on the disk.
    func keepLogOnClose() {
        csqlite_set_flag(handle, SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, 1)
    }
}
