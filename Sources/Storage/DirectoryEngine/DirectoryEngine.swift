import Basics
import CLinux
import Crypto
import Glibc
package import ObjectStore
import Synchronization

/// The directory `DIR/store`: data files at `data/<2 hex>/<file id>`, each at one path for life, and `quarantine/`.
///
/// A file's mode tells what it is if no row does: a finished object's file is read-only (0400); one that had a row may be written
/// (0600); one that never had a row, because its request has not committed, is not even readable (0200). The facts about a
/// completed upload's file are in `facts/<2 hex>/<file id>`, wherever the file is moved.
package final class DirectoryEngine: ObjectEngine {
    /// A data file found by ``files(inFolder:)``.
    struct Entry: Equatable {
        let fileID: String
        /// The size in bytes.
        let size: Int64
        let isFinished: Bool
        /// Whether it never had a row.
        let isFresh: Bool
        let modifiedAt: UnixTime
    }

    static let folders = (0..<256).map { Hex.lower([UInt8($0)]) }
    /// The number of folders up to which each is synced by itself: every sync waits for the disk, and that of the whole file system
    /// also writes what others have changed in it.
    static let foldersSyncedAlone = 8

    let path: String
    /// Whether data files are written directly.
    let writesDirectly: Bool
    let calls: FileCalls
    let pending = PendingFiles()
    private let measure: @Sendable (String) throws -> Int64

    /// Creates missing folders; their names are durable on return.
    package init(path: String, configuration: DirectoryConfiguration = DirectoryConfiguration()) throws {
        self.path = path
        calls = configuration.calls
        measure = configuration.freeBytes
        try PrivateFile.makeFolder(path)
        try PrivateFile.makeFolder("\(path)/quarantine")
        try PrivateFile.makeFolder("\(path)/duplicates")
        for kind in ["data", "facts"] {
            try PrivateFile.makeFolder("\(path)/\(kind)")
            for folder in Self.folders {
                if mkdir("\(path)/\(kind)/\(folder)", 0o700) != 0 && errno != EEXIST { throw StorageFailure.last() }
            }
            try PrivateFile.synchronizeFolder("\(path)/\(kind)")
        }
        writesDirectly = configuration.directIO.isUsable(in: "\(path)/data")
    }

    /// Opens an existing directory for reading; nothing is created.
    init(existing path: String, calls: FileCalls = FileCalls()) {
        self.path = path
        self.calls = calls
        measure = DirectoryConfiguration.available
        writesDirectly = false
    }

    package func freeBytes() throws -> Int64? { try measure(path) }
    package func sizeBytes() throws -> Int64? { DiskSpace.size(at: path) }

    package func start(_ start: EngineStart) throws -> any EngineUpkeep { try DirectoryUpkeep(self, start) }

    package func create(_ purpose: FilePurpose, length: Int64?) throws -> NewFile {
        let (fileID, file) = try makeFile()
        file.begin(at: 0, directly: writesDirectly)
        return NewFile(fileID, file, in: self)
    }

    package func createMultipart() throws -> NewFile {
        let (fileID, file) = try makeFile()
        let new = NewFile(fileID, file, in: self)
        try file.synchronizeName()
        return new
    }

    package func hasPlaces(_ fileID: String) -> Bool { true }

    package func receivePart(at position: Int64, of fileID: String) throws -> any BodySink {
        let file = try open(fileID, for: .writing)
        file.begin(at: position, directly: writesDirectly && Self.canWriteDirectly(at: position))
        return file
    }

    /// Moves no bytes except those of parts with files of their own.
    package func complete(_ fileID: String, _ parts: [EnginePart]) throws {
        let file = try open(fileID, for: .writing)
        var place: Int64 = 0
        for part in parts {
            defer { place += part.size }
            guard let fileID = part.fileID else { continue }
            try file.copy(open(fileID, for: .reading), length: part.size, to: place)
        }
        try file.truncate(to: place)
        try file.synchronizeAndClose()
    }

    package func resolve(_ fileID: String) {
        if pending.remove(fileID) { unmarkDuplicate(fileID) }
    }

    package func open(_ fileID: String) throws -> any StoredBytes { try open(fileID, for: .reading) }

    package func openToExamine(_ fileID: String) throws -> any StoredBytes {
        let file = try open(fileID, for: .reading)
        file.setDirect(writesDirectly)
        return file
    }

    /// Makes a new, empty file, whose name becomes durable when the file is synced. It has to be kept, or sealed, once it has a
    /// row.
    func makeFile() throws -> (fileID: String, file: DataFile) {
        let fileID = Random.hex(16)
        pending.add(fileID)
        do {
            return (fileID, try makeFile(named: fileID))
        } catch {
            pending.remove(fileID)
            throw error
        }
    }

    private func makeFile(named fileID: String) throws(StorageFailure) -> DataFile {
        let descriptor = Glibc.open(path(of: fileID), O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0o200)
        guard descriptor >= 0 else { throw .last() }
        return DataFile(owning: descriptor, calls: calls, newIn: folder(of: fileID))
    }

    /// Makes the file of an object whose bytes are in another engine. What an earlier process left there is removed.
    package func makeFile(as fileID: String) throws -> NewFile {
        pending.add(fileID)
        do {
            try unlinkIfThere(path(of: fileID))
            let file = try makeFile(named: fileID)
            file.begin(at: 0, directly: writesDirectly)
            return NewFile(fileID, file, in: self)
        } catch {
            pending.remove(fileID)
            throw error
        }
    }

    /// Whether the blocks of a body that begins at `position` may be written directly.
    static func canWriteDirectly(at position: Int64, alignment: Int = AlignedBlock.alignment) -> Bool {
        position.isMultiple(of: Int64(alignment))
    }

    func open(_ fileID: String, for access: DataFile.Access) throws(StorageFailure) -> DataFile {
        let descriptor = Glibc.open(path(of: fileID), (access == .reading ? O_RDONLY : O_RDWR) | O_CLOEXEC)
        guard descriptor >= 0 else { throw .lastOfReading() }
        let file = DataFile(owning: descriptor, calls: calls)
        // The mode stops everybody but root. An older database may take a finished object for an upload in progress.
        if access == .writing, try file.isFinished() { throw .missing }
        return file
    }

    /// Marks a file as one with a row. Not synced: a start that compares repeats it, according to the row, and a clean stop syncs
    /// everything.
    package func keep(_ fileID: String) {
        chmod(path(of: fileID), 0o600)
    }

    /// Marks a file as a finished object's. Not synced, like ``keep(_:)``.
    package func seal(_ fileID: String) {
        chmod(path(of: fileID), 0o400)
    }

    /// Removes a file and then its facts, unless they belong to a file in quarantine. A missing file counts as removed.
    package func remove(_ fileID: String) throws(StorageFailure) {
        try unlinkIfThere(path(of: fileID))
        if try !exists("\(quarantinePath)/\(fileID)") { try unlinkIfThere(factsPath(of: fileID)) }
    }

    package func removeDurably(_ fileIDs: [String]) throws -> [String] {
        let removed = fileIDs.filter { (try? remove($0)) != nil }
        let folders = Set(removed.map { $0.prefix(2) })
        guard folders.count <= Self.foldersSyncedAlone else {
            try synchronize()
            return removed
        }
        for folder in folders {
            for kind in ["data", "facts"] { try calls.synchronizeFolder("\(path)/\(kind)/\(folder)") }
        }
        return removed
    }

    /// Makes everything in the store durable.
    func synchronize() throws(PrivateFile.Failure) { try calls.synchronizeFileSystem(path) }

    /// Permanently removes a file from quarantine; durable on return.
    ///
    /// - Returns: whether it existed.
    func removeQuarantined(_ fileID: String) throws -> Bool {
        guard try exists("\(quarantinePath)/\(fileID)") else { return false }
        try unlinkIfThere("\(quarantinePath)/\(fileID)")
        try calls.synchronizeFolder(quarantinePath)
        // If another copy is at its path, the facts belong to that one.
        if try !exists(path(of: fileID)) {
            try unlinkIfThere(factsPath(of: fileID))
            try synchronizeFacts(of: fileID)
        }
        return true
    }

    /// Whether something exists at `path`. If the disk cannot tell, that is an error and must not pass for an absence.
    func exists(_ path: String) throws(StorageFailure) -> Bool {
        if access(path, F_OK) == 0 { return true }
        guard errno == ENOENT else { throw .last() }
        return false
    }

    func unlinkIfThere(_ path: String) throws(StorageFailure) {
        if unlink(path) != 0 && errno != ENOENT { throw .last() }
    }

    /// Moves a file into quarantine. Another copy with that id that is already there is kept.
    func quarantine(_ fileID: String) throws {
        let target = "\(quarantinePath)/\(fileID)"
        if try exists(target) {
            try Self.moveFile(target, to: "\(target).\(Random.hex(4))")
        }
        try move(path(of: fileID), to: target)
    }

    /// Moves a file from quarantine back to its path.
    func takeFromQuarantine(_ fileID: String) throws {
        try move("\(quarantinePath)/\(fileID)", to: path(of: fileID))
    }

    private func move(_ source: String, to target: String) throws {
        try Self.moveFile(source, to: target)
        for file in [target, source] { try PrivateFile.synchronizeFolder(String(file.dropLast(33))) }
    }

    /// Returns all data files of one of the ``folders``, or throws: files that could not be examined are not omitted.
    ///
    /// - Parameter goOn: called for each file; throws to stop.
    func files(inFolder folder: String, _ goOn: () throws -> Void = {}) throws -> [Entry] {
        try files(at: "\(path)/data/\(folder)", goOn)
    }

    /// Returns a digest of the times at which the names in each of the ``folders`` last changed, without reading their contents;
    /// `nil` if the disk cannot tell.
    ///
    /// These are the status change times, which no program can set: one that copies files into a folder (rsync, tar) sets the
    /// modification time back.
    func foldersDigest() -> String? {
        var times: [UInt8] = []
        for folder in Self.folders {
            var status = stat()
            guard stat("\(path)/data/\(folder)", &status) == 0 else { return nil }
            times += Array("\(status.st_ctim.tv_sec).\(status.st_ctim.tv_nsec) ".utf8)
        }
        return Hex.lower(Digest.sha256(times))
    }

    func quarantined() throws -> [Entry] {
        try files(at: quarantinePath)
    }

    func files(at path: String, _ goOn: () throws -> Void = {}) throws -> [Entry] {
        var entries: [Entry] = []
        for name in try Self.names(in: path) where Self.isFileID(name) {
            try goOn()
            var status = stat()
            guard lstat("\(path)/\(name)", &status) == 0 else {
                // Removed since it was listed.
                if errno == ENOENT { continue }
                throw StorageFailure.last()
            }
            let modified = Int64(status.st_mtim.tv_sec) * 1_000_000 + Int64(status.st_mtim.tv_nsec) / 1000
            entries.append(
                Entry(
                    fileID: name, size: Int64(status.st_size), isFinished: status.st_mode & 0o200 == 0,
                    isFresh: status.st_mode & 0o400 == 0,
                    modifiedAt: UnixTime(microseconds: modified)))
        }
        return entries
    }

    static func moveFile(_ source: String, to target: String) throws(StorageFailure) {
        do {
            try PrivateFile.move(source, to: target)
        } catch {
            throw StorageFailure(errno: error.code)
        }
    }

    static func names(in path: String) throws(StorageFailure) -> [String] {
        do {
            return try FolderListing.names(in: path)
        } catch {
            throw StorageFailure(errno: error.code)
        }
    }

    var quarantinePath: String { "\(path)/quarantine" }

    func folder(of fileID: String) -> String {
        "\(path)/data/\(fileID.prefix(2))"
    }

    func path(of fileID: String) -> String { "\(folder(of: fileID))/\(fileID)" }

    /// Whether a name has the form of ids made by ``create()``.
    static func isFileID(_ name: String) -> Bool {
        name.utf8.count == 32 && Hex.decode(name) != nil
    }
}

/// The data files of this process without a row so far, which are not remains of an earlier process.
final class PendingFiles: Sendable {
    /// The file ids, with `true` for a duplicate of another file.
    private let ids = Lock<[String: Bool]>([:])

    var isEmpty: Bool { ids.withLock { $0.isEmpty } }

    func contains(_ fileID: String) -> Bool { ids.withLock { $0[fileID] != nil } }

    /// Adds a file, before it is made.
    func add(_ fileID: String, isDuplicate: Bool = false) { ids.withLock { $0[fileID] = isDuplicate } }

    /// Removes a file after its row was committed, or the file was deleted.
    ///
    /// - Returns: whether it was a duplicate.
    @discardableResult
    func remove(_ fileID: String) -> Bool { ids.withLock { $0.removeValue(forKey: fileID) } ?? false }
}
