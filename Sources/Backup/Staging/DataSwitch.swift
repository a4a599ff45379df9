import Basics
import Glibc

/// The replacement of the present data by those in another folder of the data directory: `DIR/restore/switch`. See
/// ``RestoreFolder``.
struct DataSwitch: Codable, Sendable {
    /// The folder of the new data, below the data directory.
    let source: String
    /// The folder for the present data, below the data directory.
    let previous: String
    /// The names in the source that are put in place.
    let installed: [String]
    let result: RestoreResult

    /// The parts of a data directory that are replaced. The store is first: if it cannot be moved, little has to be moved back.
    static let names = ["store", "keys", "gateway.db", "gateway.db-wal", "gateway.db-shm", "initial-admin-password"]

    /// The reason why the present data could not be moved. They are in their place.
    struct Undone: Error, CustomStringConvertible {
        let description: String
    }

    /// The parts without which no gateway can be served.
    private static let required = ["store", "keys", "gateway.db"]

    /// - Throws: `DataDirectory.Problem` if the new data are incomplete.
    init(from source: String, to previous: String, in directory: String, result: RestoreResult) throws {
        self.source = source
        self.previous = previous
        self.result = result
        installed = try Self.names.filter { try PrivateFile.exists("\(directory)/\(source)/\($0)") }
        guard Self.required.allSatisfy(installed.contains) else {
            throw DataDirectory.Problem(description: "\(directory)/\(source) is incomplete")
        }
    }

    /// Puts the new data in place. Repeating it after an interruption at any point completes it.
    ///
    /// - Throws: ``Undone``; `DataDirectory.Problem` if a later attempt has to complete it.
    func run(in directory: String) throws {
        let (source, previous) = ("\(directory)/\(source)", "\(directory)/\(previous)")
        try PrivateFile.makeFolder(previous)
        do {
            for name in Self.names where try isPresent(name, source, in: directory) {
                try Self.move(name, from: directory, to: previous)
            }
        } catch {
            try undo(in: directory, source, previous)
            throw Undone(description: "\(error)")
        }
        for name in installed where try PrivateFile.exists("\(source)/\(name)") {
            try Self.move(name, from: source, to: directory)
        }
    }

    /// Whether a part of the present data is in the data directory, not a part that was already put in place.
    private func isPresent(_ name: String, _ source: String, in directory: String) throws -> Bool {
        try PrivateFile.exists("\(directory)/\(name)")
            && (!installed.contains(name) || isWaiting(name, source, in: directory))
    }

    /// Whether a part of the new data is not in place. After a power loss a file that was put in place may have its old name as well.
    private func isWaiting(_ name: String, _ source: String, in directory: String) throws -> Bool {
        try PrivateFile.exists("\(source)/\(name)")
            && !PrivateFile.isSame("\(source)/\(name)", "\(directory)/\(name)")
    }

    private func undo(in directory: String, _ source: String, _ previous: String) throws {
        guard try installed.allSatisfy({ try isWaiting($0, source, in: directory) }) else {
            throw DataDirectory.Problem(
                description:
                    "the data are being replaced, and the rest of the present data cannot be moved: start again")
        }
        for name in Self.names where try PrivateFile.exists("\(previous)/\(name)") {
            let present = "\(directory)/\(name)"
            guard try !PrivateFile.exists(present) || PrivateFile.isSame("\(previous)/\(name)", present) else {
                continue
            }
            try Self.move(name, from: previous, to: directory)
        }
        guard rmdir(previous) == 0 else { throw DataDirectory.Problem.last("cannot remove \(previous)") }
        try PrivateFile.synchronizeFolder(directory)
    }

    private static func move(_ name: String, from source: String, to target: String) throws {
        try DataDirectory.move("\(source)/\(name)", to: "\(target)/\(name)")
        try PrivateFile.synchronizeFolder(target)
        try PrivateFile.synchronizeFolder(source)
    }
}
