import CSQLite

/// The errors of the database.
package enum DatabaseError: Error, Sendable, Equatable {
    /// Too many writes are waiting. Transient.
    case overloaded
    /// ``Database/close()`` was called.
    case closed
    /// The commit of this write failed so that nobody knows whether it is on disk: a sync failed, or, with an engine on another
    /// machine, the connection was lost before its answer. The write may exist now or later, so nothing that its rows refer to may be
    /// removed.
    case outcomeUnknown
    /// The outcome of an earlier commit is unknown: no writes are accepted until the process restarts and the engine has recovered.
    /// Nothing of this write was kept.
    case writerEnded
    /// The disk, or the page limit, is full; nothing of this write was kept.
    case full
    /// Another process holds the file, or a lock on the server. Transient.
    case locked
    /// The server cannot be reached, or it has ended the connection. Transient; nothing of this write was kept. `message` has no
    /// password.
    case unavailable(String)
    /// The server, or the place on it, cannot be used as it is; the message says what to change.
    case unsuitable(String)
    /// A constraint of the schema refused the statement. `message` names it, e.g. `UNIQUE constraint failed: sites.name`.
    case constraint(Constraint, message: String)
    /// The engine rolled the transaction back, and its closure threw another error than that of the failed statement.
    case rolledBack
    /// The file was written by a newer program: it records an unknown migration.
    case newerSchema(migration: String)
    /// The statement and its arguments do not match: an error in this program.
    case misuse(String)
    /// The file at `path` is damaged, or is no database; with SQLite's extended result code.
    case damaged(path: String, code: Int32, message: String)
    /// Any other failure of SQLite, with its extended result code.
    case failed(code: Int32, message: String)
    /// Any other failure of PostgreSQL, with its SQLSTATE.
    case server(state: String, message: String)

    /// The kind of constraint that a statement violated.
    package enum Constraint: Sendable, Equatable {
        case unique
        case foreignKey
        case other
    }
}

extension DatabaseError: CustomStringConvertible {
    package var description: String {
        switch self {
        case .overloaded: "too many writes are waiting"
        case .closed: "the database is closed"
        case .outcomeUnknown: "a commit failed, and it is unknown whether it is on disk: restart to recover"
        case .writerEnded: "the database accepts no writes since a commit failed: restart to recover"
        case .full: "the disk is full"
        case .locked: "another process uses the database: stop it, then try again"
        case .unavailable(let message): "the database is not available: \(message)"
        case .unsuitable(let message): message
        case .constraint(_, let message): message
        case .rolledBack: "the transaction was already rolled back"
        case .newerSchema(let migration):
            """
            the database was written by a newer version of this program (it has the migration \(migration)): \
            start that version, or restore a backup made before the upgrade
            """
        case .misuse(let message): message
        case .damaged(let path, _, let message):
            """
            the database \(path) is damaged (\(message)): stop the gateway, keep a copy of the file, and restore a backup with \
            'data-gateway restore', which keeps intact objects
            """
        case .failed(let code, let message): "database error \(code): \(message)"
        case .server(let state, let message): "database error \(state): \(message)"
        }
    }
}

extension DatabaseError {
    /// - Parameters:
    ///   - code: an extended result code other than OK, ROW and DONE.
    ///   - path: the database's file.
    init(code: Int32, message: String, path: String) {
        switch (code & 0xFF, code) {
        case (SQLITE_CORRUPT, _), (SQLITE_NOTADB, _):
            self = .damaged(path: path, code: code, message: message)
        case (SQLITE_FULL, _):
            self = .full
        case (SQLITE_BUSY, _):
            self = .locked
        case (_, SQLITE_CONSTRAINT | (8 << 8)), (_, SQLITE_CONSTRAINT | (6 << 8)):
            self = .constraint(.unique, message: message)
        case (_, SQLITE_CONSTRAINT | (3 << 8)):
            self = .constraint(.foreignKey, message: message)
        case (SQLITE_CONSTRAINT, _):
            self = .constraint(.other, message: message)
        default:
            self = .failed(code: code, message: message)
        }
    }

    /// The failure of the last call on a connection.
    init(code: Int32, on connection: OpaquePointer) {
        self.init(
            code: code, message: String(cString: sqlite3_errmsg(connection)), path: Self.path(of: connection))
    }

    /// Returns the path of a connection's file.
    static func path(of connection: OpaquePointer) -> String {
        sqlite3_db_filename(connection, "main").map { String(cString: $0) } ?? ""
    }

    /// Whether the contents of the file are damaged.
    package var isDamage: Bool {
        if case .damaged = self { return true }
        return false
    }

    /// Whether the transaction ended with its connection.
    var isLoss: Bool {
        if case .unavailable = self { return true }
        return false
    }

    /// Whether the disk could not make data durable; a second sync would succeed without making it durable.
    var isFailedSync: Bool {
        guard case .failed(let code, _) = self else { return false }
        return [SQLITE_IOERR | (4 << 8), SQLITE_IOERR | (5 << 8)].contains(code)
    }

    /// Whether, as the error of a COMMIT, it leaves the contents of the file unknown.
    ///
    /// A failed fsync is never repeated: the kernel may have dropped the pages that it could not write, and the next fsync succeeds
    /// nevertheless.
    var leavesOutcomeOpen: Bool {
        guard case .failed(let code, _) = self else { return isDamage }
        return [SQLITE_IOERR, SQLITE_CANTOPEN].contains(code & 0xFF)
    }
}
