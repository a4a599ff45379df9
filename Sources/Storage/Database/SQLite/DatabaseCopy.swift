import Basics
import CSQLite
import Synchronization

/// A copy of the whole database into another file, through the writer's own connection: some hundred pages between two batches.
///
/// Through any other connection it would restart whenever the writer commits, and never finish under load: "If the source database
/// is modified by an external process or via a database connection other than the one being used by the backup operation, then the
/// backup will be automatically restarted" (sqlite.org/c3ref/backup_finish.html). Writes of this connection during the copy go into
/// both files.
///
/// `@unchecked Sendable`: after it was submitted, only the writer's thread uses its state, except for the flag.
final class DatabaseCopy: @unchecked Sendable {  // the writer uses it alone
    /// Less than a millisecond of work, which is the longest delay of writes.
    private static let pages: Int32 = 200

    private let path: String
    private let reply: @Sendable (Result<Void, any Error>) -> Void
    private let isCancelled = Atomic(false)
    private var destination: OpaquePointer?
    private var backup: OpaquePointer?

    /// - Parameters:
    ///   - path: a file that does not exist or is empty; if the copy fails, the caller removes it.
    ///   - reply: called once, on the writer's thread.
    init(to path: String, reply: @escaping @Sendable (Result<Void, any Error>) -> Void) {
        self.path = path
        self.reply = reply
    }

    deinit {
        release()
    }

    /// Stops the copy at its next step.
    func cancel() {
        isCancelled.store(true, ordering: .relaxed)
    }

    /// The result of a step.
    enum Progress {
        case more
        /// Another process has locked one of the files: the same step has to be repeated a little later.
        case blocked
        case finished
    }

    /// Performs one step, outside any transaction.
    func advance(_ source: SQLiteSession) -> Progress {
        do {
            if isCancelled.load(ordering: .relaxed) { throw CancellationError() }
            if backup == nil { try begin(source) }
            switch sqlite3_backup_step(backup, Self.pages) {
            case SQLITE_OK: return .more
            case SQLITE_BUSY, SQLITE_LOCKED: return .blocked
            case SQLITE_DONE: break
            case let code: throw failure(code, of: source)
            }
            let code = release()
            guard code == SQLITE_OK else {
                throw failure(code, of: source)
            }
            reply(.success(()))
        } catch {
            fail(error)
        }
        return .finished
    }

    func fail(_ error: any Error) {
        release()
        reply(.failure(error))
    }

    private func begin(_ source: SQLiteSession) throws {
        let flags = SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE | SQLITE_OPEN_NOMUTEX | SQLITE_OPEN_EXRESCODE
        var code = sqlite3_open_v2(path, &destination, flags, nil)
        // A copy that a crash leaves is discarded, so it needs neither a journal nor syncs.
        if code == SQLITE_OK {
            code = sqlite3_exec(destination, "PRAGMA synchronous = OFF; PRAGMA journal_mode = OFF", nil, nil, nil)
        }
        if code == SQLITE_OK {
            backup = sqlite3_backup_init(destination, "main", source.handle, "main")
            if backup == nil { code = sqlite3_extended_errcode(destination) }
        }
        guard code == SQLITE_OK else {
            let message = destination.map { String(cString: sqlite3_errmsg($0)) } ?? "out of memory"
            throw DatabaseError(code: code, message: message, path: path)
        }
    }

    /// The failure of a step: damage is that of the source, since the copy is new.
    private func failure(_ code: Int32, of source: SQLiteSession) -> DatabaseError {
        DatabaseError(
            code: code, message: String(cString: sqlite3_errstr(code)), path: DatabaseError.path(of: source.handle))
    }

    /// - Returns: the result of the copy.
    @discardableResult
    private func release() -> Int32 {
        let code = sqlite3_backup_finish(backup)
        backup = nil
        sqlite3_close_v2(destination)
        destination = nil
        return code
    }
}

/// Holds a copy for its cancellation, which may come before the copy exists.
final class RunningCopy: Sendable {
    private let state = Lock<(copy: DatabaseCopy?, isCancelled: Bool)>((nil, false))

    func started(_ copy: DatabaseCopy) {
        let isCancelled = state.withLock { state in
            state.copy = copy
            return state.isCancelled
        }
        if isCancelled { copy.cancel() }
    }

    func cancel() {
        let copy = state.withLock { state in
            state.isCancelled = true
            return state.copy
        }
        copy?.cancel()
    }
}
