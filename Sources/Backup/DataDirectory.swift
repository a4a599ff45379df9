package import Basics
package import Crypto
package import Database
import Glibc
import Synchronization

/// The server's folder, locked by one process at a time: a gateway that serves it, or a command that repairs it.
package final class DataDirectory: Sendable {
    /// The reason why a folder cannot be used, with what to do.
    package struct Problem: Error, CustomStringConvertible {
        package let description: String

        package init(description: String) {
            self.description = description
        }

        /// The failure of the system call that was made last.
        ///
        /// - Parameter failure: the part of the message before the system's reason.
        static func last(_ failure: String) -> Problem {
            Problem(description: "\(failure): \(String(cString: strerror(errno)))")
        }
    }

    /// Moves a file or folder to another name in a data directory; see `PrivateFile.move`.
    static func move(_ path: String, to target: String) throws(Problem) {
        do throws(PrivateFile.Failure) {
            try PrivateFile.move(path, to: target)
        } catch {
            throw Problem(description: "cannot move \(path) to \(target): \(error.reason)")
        }
    }

    /// Returns a name that nothing in a folder has: the prefix and a time, e.g. `replaced-20261124T093000Z`.
    static func unusedName(_ prefix: String, at time: UnixTime, in folder: String) -> String {
        var name = prefix + BackupRun.timestamp(time).filter { $0 != "-" && $0 != ":" }
        while exists("\(folder)/\(name)") { name += "+" }
        return name
    }

    /// The contents of `format` that this program writes.
    static let format = "1\n"

    package let path: String
    /// The file with the root key.
    package let rootKey: String
    /// The descriptor of the lock; `nil` after its release.
    private let lock: Lock<Int32?>

    /// Locks an existing folder for the lifetime of this object.
    ///
    /// - Parameter rootKey: the file with the root key; `nil` = `keys/root` in the folder.
    /// - Throws: ``Problem``.
    init(locking path: String, rootKey: String? = nil) throws(Problem) {
        self.path = path
        self.rootKey = rootKey ?? Self.ownRootKey(path)
        let descriptor = open(path + "/lock", O_RDWR | O_CREAT | O_CLOEXEC, 0o600)
        guard descriptor >= 0 else {
            throw .last("cannot write in the data directory \(path)")
        }
        lock = Lock(descriptor)
        guard flock(descriptor, LOCK_EX | LOCK_NB) == 0 else {
            throw Problem(description: "the data directory \(path) is in use by another gateway")
        }
    }

    deinit {
        release()
    }

    /// Releases the lock early, after which the folder must not be used through this object.
    package func release() {
        if let descriptor = lock.withLock({ $0.take() }) { close(descriptor) }
    }

    /// Opens the folder for a gateway that is to serve it; creates it (mode 0700, durably) if it does not exist.
    ///
    /// - Parameter rootKey: the file with the root key; `nil` = `keys/root` in the folder.
    /// - Throws: ``Problem``; nothing was written then to a folder that contains anything else.
    package static func forServing(_ path: String, rootKey: String? = nil) throws(Problem) -> DataDirectory {
        try make(path)
        try requireOwn(path)
        let directory = try DataDirectory(locking: path, rootKey: rootKey)
        guard !exists(directory.restoring) else {
            throw Problem(
                description: """
                    a restore into \(path) did not finish: run it again, or remove the folder if it was new
                    """)
        }
        try directory.checkFormat()
        directory.removeCopies()
        return directory
    }

    /// Replaces the data if that was requested of the gateway that served them before; called before the database is opened.
    ///
    /// - Parameter migrations: those of this program.
    /// - Throws: ``Problem`` if the data cannot be served until a later start completes the replacement.
    package func restoreIfRequested(migrations: [Migration], now: UnixTime, log: Logger) throws(Problem) {
        let folder = RestoreFolder(directory: path)
        do {
            try RequestedRestore(folder: folder, migrations: migrations, now: now, log: log).run()
        } catch {
            throw Problem(description: "the requested restore cannot be completed: \(error)")
        }
    }

    /// Opens the folder for a command that works on a stopped gateway's data, which must exist.
    ///
    /// - Parameters:
    ///   - place: where the database is, if it is on a server; see `PostgresServer.place`.
    ///   - rootKey: the file with the root key; `nil` = `keys/root` in the folder.
    /// - Throws: ``Problem``, `PrivateFile.Failure`.
    package static func openForRepair(
        _ path: String, usedWith place: String? = nil, rootKey: String? = nil
    ) throws -> DataDirectory {
        if let place {
            try require(path, usedWith: place)
        } else {
            try requireDatabase(path)
        }
        let directory = try DataDirectory(locking: path, rootKey: rootKey)
        guard !exists(directory.restoring) else {
            throw Problem(description: "a restore into \(path) did not finish: run it again")
        }
        try directory.requireNoRequest()
        try directory.checkFormat()
        return directory
    }

    /// Throws unless a folder has a database as a file, or an interrupted restore is the reason why it has none.
    private static func requireDatabase(_ path: String) throws {
        try requireFile(path)
        // A restore that did not finish is the reason why the database is missing.
        let isInterrupted = try exists(path + "/restoring") || RequestedRestore.isPending(in: path)
        if !hasDatabase(path), !isInterrupted { try requireNeverServed(path) }
        guard hasDatabase(path) || isInterrupted, exists(path + "/format") else {
            throw Problem(description: "\(path) is not a data directory: it has no files gateway.db and format")
        }
    }

    /// Throws if the next start replaces the data, which a command must not precede.
    func requireNoRequest() throws(Problem) {
        let isPending: Bool
        do {
            isPending = try RequestedRestore.isPending(in: path)
        } catch {
            throw Problem(description: "cannot read \(error.reason)")
        }
        guard !isPending else {
            throw Problem(
                description: """
                    \(path)/restore has a restore that was requested in the console: start the gateway, which completes it
                    """)
        }
    }

    /// Whether there is no database yet.
    package var isNew: Bool { !Self.hasDatabase(path) }

    /// Whether a folder has a database. An empty file does not count: a first start creates it before it writes to it.
    private static func hasDatabase(_ path: String) -> Bool {
        var status = stat()
        return stat(path + "/gateway.db", &status) == 0 && status.st_size > 0
    }

    package var database: String { path + "/gateway.db" }
    package var keys: String { path + "/keys" }
    static func ownRootKey(_ path: String) -> String { path + "/keys/root" }
    /// Whether the root key is in the folder, and not in a file that several gateways have.
    package var hasOwnRootKey: Bool { rootKey == Self.ownRootKey(path) }
    package var store: String { path + "/store" }
    package var initialPassword: String { path + "/initial-admin-password" }
    /// The folder for copies of the database while a backup runs; emptied at each start.
    var copies: String { path + "/copies" }
    /// The folder where a restore collects files; `serve` refuses a directory that contains it.
    var restoring: String { path + "/restoring" }
    var formatFile: String { path + "/format" }

    /// Writes the password of the first administrator to a file that only the server's user can read.
    package func writeInitialPassword(_ password: Secret) throws {
        try PrivateFile.write(password.exposed + [0x0A], to: initialPassword)
    }

    static func exists(_ path: String) -> Bool {
        access(path, F_OK) == 0
    }

    /// Creates each missing folder of the path, and syncs its name before anything is written into it.
    static func make(_ path: String) throws(Problem) {
        guard !exists(path) else { return }
        let parent = Path.folder(of: path)
        if !parent.isEmpty { try make(parent) }
        do throws(PrivateFile.Failure) {
            try PrivateFile.makeFolder(path)
        } catch {
            throw Problem(description: "cannot create the data directory \(path): \(error.reason)")
        }
    }

    /// Returns the names in the folder, except those that file systems and earlier starts create in an otherwise empty folder.
    static func contents(_ path: String) throws(Problem) -> [String] {
        do {
            return try FolderListing.names(in: path)
                .filter { !["lock", "lost+found"].contains($0) }
        } catch {
            throw Problem(description: "cannot read the data directory: \(error)")
        }
    }

    /// Throws unless the folder is empty or a data directory, so that a mistyped path is not filled with files.
    private static func requireOwn(_ path: String) throws(Problem) {
        let contents = try contents(path)
        // The first start writes `format` before anything else, by renaming a file beside it.
        guard contents.allSatisfy({ $0.hasPrefix("format.") }) || contents.contains(where: ours.contains) else {
            throw Problem(
                description: """
                    \(path) is not empty and not a data directory: name a data directory or an empty folder
                    """)
        }
    }

    private static let ours: Set<String> = ["format", "gateway.db", "restoring"]

    private func checkFormat() throws(Problem) {
        let known: [UInt8]?
        do {
            known = try PrivateFile.read(formatFile)
        } catch {
            throw Problem(description: "cannot read \(error.reason)")
        }
        guard let found = known else {
            // The first start writes it before it makes the database.
            guard !Self.exists(database) else {
                throw Problem(
                    description: "\(formatFile) is missing: the folder is not a data directory, or it is damaged")
            }
            do throws(PrivateFile.Failure) {
                try PrivateFile.write(Array(Self.format.utf8), to: formatFile)
            } catch {
                throw Problem(description: "cannot write \(formatFile): \(error.reason)")
            }
            return
        }
        guard found == Array(Self.format.utf8) else {
            throw Problem(
                description:
                    "the data directory \(path) was written by a newer data-gateway: start that version instead")
        }
    }

    /// Removes the files of backups that were ended by a crash.
    private func removeCopies() {
        try? PrivateFile.remove(copies)
    }
}
