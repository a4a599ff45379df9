import CSQLite

/// The writer's connection, which ``Database/write(_:)`` passes to its closure: it reads and writes.
package final class Connection: ReadConnection {
    /// The longest wait for readers of the log, during which every write waits, in milliseconds.
    private static let restartBusyTimeout: Int32 = 25

    /// The log's pages after the last commit; SQLite's hook updates it.
    private let logged: UnsafeMutablePointer<Int32>

    init(path: String) throws {
        logged = .allocate(capacity: 1)
        logged.initialize(to: 0)
        try super.init(path: path, mode: .writer)
        try configure()
    }

    deinit {
        sqlite3_wal_hook(handle, nil, nil)
        logged.deallocate()
    }

    private func configure() throws {
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
        let countPages: @convention(c) (UnsafeMutableRawPointer?, OpaquePointer?, UnsafePointer<CChar>?, Int32) -> Int32
        countPages = { logged, _, _, pages in
            logged?.storeBytes(of: pages, as: Int32.self)
            return SQLITE_OK
        }
        sqlite3_wal_hook(handle, countPages, logged)
        // In KiB. Enough for the pages of a transaction and the upper levels of the trees; the page cache holds the file.
        try execute("PRAGMA cache_size = -4096")
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
        while try step(statement) {}
        return Int(sqlite3_changes64(handle))
    }

    /// The effects that the current write has requested; see ``afterCommit(_:)``.
    private var effects: [@Sendable () -> Void] = []

    /// Runs `effect` after this write is on disk: on the writer's thread, before the caller of the write gets the result, and in
    /// the order of the calls. A write that is rolled back, or whose outcome is unknown, has no effects.
    ///
    /// This is the only way to act on a commit. `effect` must be quick; it may read the database and submit writes, but must not
    /// wait for one.
    package func afterCommit(_ effect: @escaping @Sendable () -> Void) {
        effects.append(effect)
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

    /// Prevents a checkpoint when the connection closes, because it is unknown how much of the log is on the disk.
    func keepLogOnClose() {
        csqlite_set_flag(handle, SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, 1)
    }
}

/// The kind of lock that a transaction has on a row.
package enum Hold: Sendable {
    /// Other transactions may hold the row as well, but none changes it.
    case shared
    /// No other transaction holds or changes the row.
    case exclusive
}

/// Row locks that a transaction keeps until its end. SQLite's writer runs transactions one after the other, so these calls do
/// nothing there; they name the rows that another engine has to lock.
///
/// All transactions lock in the same order, or two may wait for each other: the row of `uploads`, then multipart uploads, then
/// parts; names after all rows.
extension Connection {
    /// Prevents changes of the row by others until this write has ended, so that decisions based on it stay valid.
    ///
    /// - Parameters:
    ///   - table: a table with a primary key of one column. It becomes part of the statement's text, so it must be a literal.
    ///   - key: the row's primary key. If there is no such row, nothing is locked.
    package func hold(_ hold: Hold, _ table: StaticString, _ key: some Bindable) throws {}

    /// Makes other writes that hold the same name wait until this one has ended, for things without a row so far.
    package func hold(_ name: String) throws {}
}
