import Foundation
import Platform

/// The server's folder: one gateway at a time works in it, in a format it knows.
final class DataDirectory: Sendable {
    struct Problem: Error, CustomStringConvertible {
        let description: String
    }

    /// What this program writes into `format`.
    private static let format = "1\n"

    let path: String
    /// Whether there was no database yet.
    let isNew: Bool
    private let lock: Int32

    /// Makes the folder (0700) where it is missing, and takes its lock for the life of the process.
    init(_ path: String) throws {
        self.path = path
        do {
            try FileManager.default.createDirectory(
                atPath: path, withIntermediateDirectories: true, attributes: [.posixPermissions: 0o700])
        } catch {
            throw Problem(description: "cannot make the data directory \(path): \(error.localizedDescription)")
        }
        lock = open(path + "/lock", O_RDWR | O_CREAT | O_CLOEXEC, 0o600)
        guard lock >= 0 else {
            throw Problem(
                description: "cannot write in the data directory \(path): \(String(cString: strerror(errno)))")
        }
        guard flock(lock, LOCK_EX | LOCK_NB) == 0 else {
            close(lock)
            throw Problem(description: "the data directory \(path) is in use by another gateway")
        }
        isNew = !FileManager.default.fileExists(atPath: path + "/gateway.db")
        try checkFormat()
    }

    deinit {
        close(lock)
    }

    var database: String { path + "/gateway.db" }
    var keys: String { path + "/keys" }
    var store: String { path + "/store" }
    var initialPassword: String { path + "/initial-admin-password" }

    /// Writes the password of the first administrator where only the server's user can read it.
    func writeInitialPassword(_ password: Secret) throws {
        try PrivateFile.write(password.exposed + [0x0A], to: initialPassword)
    }

    private func checkFormat() throws {
        let file = path + "/format"
        guard let found = PrivateFile.read(file) else {
            guard isNew else {
                throw Problem(description: "\(file) is missing: this is no data directory, or a damaged one")
            }
            try PrivateFile.write(Array(Self.format.utf8), to: file)
            return
        }
        guard found == Array(Self.format.utf8) else {
            throw Problem(
                description: "the data directory \(path) was written by a newer data-gateway: start that one instead")
        }
    }
}
