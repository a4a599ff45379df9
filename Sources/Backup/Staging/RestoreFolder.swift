import Accounts
import Basics
import FoundationEssentials
import Glibc
import Proto
import Synchronization

/// The folder `DIR/restore`, in which a running gateway leaves an archive and a request for its next start.
///
/// The folder's files are also the journal of the replacement. Every step is durable before the next one begins:
///
/// 1. The gateway writes an arriving archive to `archive.partial` and checks it. It syncs the file, renames it to `archive`, syncs the
///    folder, and writes `description`. The archive's database stays as `contents.db`, for comparisons.
/// 2. When a person applies the archive, the gateway writes `request` and ends with the exit code 75.
/// 3. The next start makes a second data directory in `new`: it links the finished files of the store, if the archive is from the
///    same gateway, and then restores the archive into it. Nothing outside of `new` changes.
/// 4. It writes `switch`, which names the files in `new`. From here on, every start completes the switch.
/// 5. It moves the present data to `previous-TIME`, one name after the other, and then the names in `new` to their places. It syncs
///    both folders after each rename.
/// 6. It removes the archive and `new`, writes `outcome`, and removes `request`, and `switch` last.
///
/// A start finds one of these states:
///
/// | state | data | action |
/// |---|---|---|
/// | neither `request` nor `switch` | present | removes `archive.partial`, `scratch` and `new`, and keeps a complete archive |
/// | `request` | present, untouched | removes `new` and makes it again (step 3). If that fails, removes `new`, writes the reason to `outcome`, removes `request`, and serves the present data |
/// | `switch` | mixed | completes steps 5 and 6. If the present data cannot be moved, moves all of them back and does as above |
///
/// To return to the previous data, `switch` names these instead of `new`; the steps are the same without step 3.
///
/// A file written by `PrivateFile.write` is whole or absent: it is synced before it is renamed to its name.
struct RestoreFolder: Sendable {
    /// The data directory.
    let directory: String

    var path: String { directory + "/restore" }
    var partial: String { path + "/archive.partial" }
    var archive: String { path + "/archive" }
    var contents: String { path + "/contents.db" }
    /// A folder for copies of an arriving archive's database and keys while they are checked.
    var scratch: String { path + "/scratch" }
    var new: String { path + "/new" }

    private static let previousPrefix = "previous-"
    private static let deletedPrefix = "deleted-"
    /// Held while deleted data are removed: two removals of a folder at once fail, because each misses files that the other has
    /// removed.
    private static let removal = Lock(())

    let description = Record<StagedDescription>(name: "description")
    let request = Record<RestoreRequest>(name: "request")
    let switching = Record<DataSwitch>(name: "switch")
    let outcome = Record<RestoreResult>(name: "outcome")

    /// A small file of the folder.
    struct Record<Value: Codable & Sendable>: Sendable {
        let name: String

        /// Returns the value; `nil` if the file does not exist.
        func read(in folder: RestoreFolder) throws -> Value? {
            guard let bytes = try PrivateFile.read("\(folder.path)/\(name)") else { return nil }
            do {
                return try JSONDecoder().decode(Value.self, from: Data(bytes))
            } catch {
                throw DataDirectory.Problem(description: "\(folder.path)/\(name) is damaged: \(error)")
            }
        }

        /// Replaces the file; it is durable on return.
        func write(_ value: Value, in folder: RestoreFolder) throws {
            let encoder = JSONEncoder()
            encoder.outputFormatting = [.sortedKeys]
            try PrivateFile.write([UInt8](try encoder.encode(value)), to: "\(folder.path)/\(name)")
        }

        /// Removes the file, if it exists; durable on return.
        func remove(in folder: RestoreFolder) throws {
            guard unlink("\(folder.path)/\(name)") == 0 || errno == ENOENT else {
                throw DataDirectory.Problem.last("cannot remove \(folder.path)/\(name)")
            }
            try PrivateFile.synchronizeFolder(folder.path)
        }
    }

    /// The description of the complete archive in the folder; `nil` = the folder has no such archive.
    ///
    /// An archive whose description cannot be read counts as none: it can be staged again, and the gateway serves meanwhile. The
    /// next archive, or the next start, removes its files.
    var staged: StagedDescription? { (try? description.read(in: self)) ?? nil }

    /// Creates the folder.
    func make() throws { try PrivateFile.makeFolder(path) }

    /// Removes a file or a folder with its content, if it exists.
    func remove(_ path: String) throws {
        guard try PrivateFile.exists(path) else { return }
        try PrivateFile.remove(path)
    }

    /// Removes the staged archive, its description first, so that an incomplete removal leaves no archive.
    func removeArchive() throws {
        try description.remove(in: self)
        for path in [archive, partial, contents, scratch] { try remove(path) }
        try PrivateFile.synchronizeFolder(path)
    }

    // MARK: Previous data

    /// Returns the folders of previous data in the data directory, oldest first; there is more than one only if somebody made them.
    func previous() throws -> [String] {
        try FolderListing.names(in: directory).filter { $0.hasPrefix(Self.previousPrefix) }.sorted()
    }

    /// Returns the name of a folder for data that are replaced now.
    func newPrevious(at now: UnixTime) -> String {
        DataDirectory.unusedName(Self.previousPrefix, at: now, in: directory)
    }

    /// Takes previous data out of the data directory, durably; ``beginRemovingDeleted(_:)`` then removes them.
    func delete(previous name: String) throws {
        try make()
        guard rename("\(directory)/\(name)", "\(path)/\(Self.deletedPrefix)\(name)") == 0 else {
            throw DataDirectory.Problem.last("cannot delete \(directory)/\(name)")
        }
        try PrivateFile.synchronizeFolder(path)
        try PrivateFile.synchronizeFolder(directory)
    }

    /// Removes deleted previous data on a thread of its own, because that may take minutes.
    func beginRemovingDeleted(_ log: Logger) {
        Worker.thread("previous-data").post { removeDeleted(log) }
    }

    /// Removes deleted previous data. The next start removes what remains after an error.
    func removeDeleted(_ log: Logger) {
        Self.removal.withLock { _ in
            do {
                for name in try FolderListing.names(in: path) where name.hasPrefix(Self.deletedPrefix) {
                    try PrivateFile.remove("\(path)/\(name)")
                }
            } catch {
                log.write(
                    "deleted previous data still use space on the disk",
                    ["error": "\(error)", "hint": "the next start removes them"], level: .error)
            }
        }
    }

    /// Throws if the data directory cannot be replaced by renames, because the store is on another disk.
    func requireOneDisk() throws {
        for name in ["store", "keys"] {
            var (folder, entry) = (stat(), stat())
            guard stat(directory, &folder) == 0, lstat("\(directory)/\(name)", &entry) == 0,
                folder.st_dev == entry.st_dev, entry.st_mode & S_IFMT == S_IFDIR
            else {
                throw DataDirectory.Problem(
                    description: """
                        \(directory)/\(name) is not a folder on the disk of the data directory: stop the gateway and use \
                        'data-gateway restore'
                        """)
            }
        }
    }
}

/// The request for the next start to replace the data: `DIR/restore/request`.
struct RestoreRequest: Codable, Sendable, Equatable {
    enum Source: Codable, Sendable, Equatable {
        case archive
        /// The previous data in a folder of the data directory.
        case previous(String)
    }

    let source: Source
    /// The person who confirmed it, e.g. `user:system/admin`.
    let requestedBy: String
}

/// The result of a requested restore: `DIR/restore/outcome`.
struct RestoreResult: Codable, Sendable, Equatable {
    /// The end of the restore, in seconds since 1970.
    var finishedAt: Int64 = 0
    /// The time of the backup in RFC 3339; `nil` if previous data were put back.
    var createdAt: String?
    /// The reason why the present data were not replaced; `nil` = they were.
    var failure: String?
    var objects = 0
    var missing = 0
    var damaged = 0
    var quarantined = 0
    var requestedBy = ""
    /// Whether the audit log has a line about it.
    var isAudited = false

    init(_ request: RestoreRequest, at now: UnixTime) {
        finishedAt = now.seconds
        requestedBy = request.requestedBy
    }

    /// Takes over the numbers of a restore.
    mutating func count(_ outcome: Restore.Outcome) {
        createdAt = outcome.createdAt
        objects = outcome.objects
        missing = outcome.missing.count
        damaged = outcome.damaged.count
        quarantined = outcome.quarantined
    }
}

extension RestoreOutcome {
    init(_ result: RestoreResult) {
        self.init(
            finishedAt: Timestamp(UnixTime(seconds: result.finishedAt)),
            backupTime: result.createdAt.flatMap { RFC3339.parse($0) }.map { Timestamp($0.time) },
            failure: result.failure ?? "", objects: Int64(result.objects), missingObjects: Int64(result.missing),
            damagedObjects: Int64(result.damaged), quarantinedFiles: Int64(result.quarantined),
            requestedBy: result.requestedBy)
    }
}
