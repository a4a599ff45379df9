import Basics
import Crypto
import Foundation

/// The server's folder, held by one process at a time: a gateway that serves it, or a command that mends it.
package final class DataDirectory: Sendable {
    /// Why a folder cannot be worked in, with what to do.
    package struct Problem: Error, CustomStringConvertible {
        package let description: String

        package init(description: String) {
            self.description = description
        }
    }

    /// What this program writes into `format`.
    static let format = "1\n"

    package let path: String
    /// `nil` once it was given back.
    private let lock: Lock<Int32?>

    /// Takes the lock of an existing folder, for as long as this object lives.
    ///
    /// - Throws: ``Problem``.
    init(locking path: String) throws(Problem) {
        self.path = path
        let descriptor = open(path + "/lock", O_RDWR | O_CREAT | O_CLOEXEC, 0o600)
        guard descriptor >= 0 else {
            throw Problem(
                description: "cannot write in the data directory \(path): \(String(cString: strerror(errno)))")
        }
        lock = Lock(descriptor)
        guard flock(descriptor, LOCK_EX | LOCK_NB) == 0 else {
            throw Problem(description: "the data directory \(path) is in use by another gateway")
        }
    }

    deinit {
        release()
    }

    /// Gives the lock back, though somebody may still hold this object; nothing is read or written by way of it after that.
    package func release() {
        if let descriptor = lock.withLock({ $0.take() }) { close(descriptor) }
    }

    /// For a gateway that is to serve it: makes the folder (0700, its name durable) where it is missing.
    ///
    /// - Throws: ``Problem``; nothing was written then into a folder that holds anything else.
    package static func forServing(_ path: String) throws(Problem) -> DataDirectory {
        try make(path)
        try requireOwn(path)
        let directory = try DataDirectory(locking: path)
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

    /// For a command on what a gateway left: the folder must hold one.
    ///
    /// - Throws: ``Problem``.
    package static func openForRepair(_ path: String) throws(Problem) -> DataDirectory {
        guard exists(path + "/gateway.db"), exists(path + "/format") else {
            throw Problem(description: "\(path) is not a data directory: it has no files gateway.db and format")
        }
        let directory = try DataDirectory(locking: path)
        guard !exists(directory.restoring) else {
            throw Problem(description: "a restore into \(path) did not finish: run it again")
        }
        try directory.checkFormat()
        return directory
    }

    /// Whether there is no database yet.
    package var isNew: Bool { !Self.exists(database) }

    package var database: String { path + "/gateway.db" }
    package var keys: String { path + "/keys" }
    package var store: String { path + "/store" }
    package var initialPassword: String { path + "/initial-admin-password" }
    /// Copies of the database while a backup runs; emptied at each start.
    var copies: String { path + "/copies" }
    /// The files that a restore gathers; `serve` refuses a directory that has them.
    var restoring: String { path + "/restoring" }
    var formatFile: String { path + "/format" }

    /// Writes the password of the first administrator where only the server's user can read it.
    package func writeInitialPassword(_ password: Secret) throws {
        try PrivateFile.write(password.exposed + [0x0A], to: initialPassword)
    }

    static func exists(_ path: String) -> Bool {
        FileManager.default.fileExists(atPath: path)
    }

    /// Each missing folder of the path, its name synced before anything is in it.
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

    /// Everything there, but for what a file system or an earlier start leaves in a folder that is as good as empty.
    static func contents(_ path: String) throws(Problem) -> [String] {
        do {
            return try FolderListing.names(in: path)
                .filter { !["lock", "lost+found"].contains($0) }
        } catch {
            throw Problem(description: "cannot read the data directory: \(error)")
        }
    }

    /// A folder that holds something must be a gateway's: a mistyped path is not filled with ours.
    private static func requireOwn(_ path: String) throws(Problem) {
        let contents = try contents(path)
        // The first start writes `format` before anything else, and by way of a file beside it.
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
            guard isNew else {
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

    /// What backups left that a crash ended.
    private func removeCopies() {
        try? FileManager.default.removeItem(atPath: copies)
    }
}
