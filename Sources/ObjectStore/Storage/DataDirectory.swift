import Glibc
import Platform

/// `DIR/store`: data files at `data/<2 hex>/<file id>`, each at one path for life, and `quarantine/`.
///
/// A path says nothing about what a file is; its mode does, for the case that no row does: a finished object's file is
/// read-only (0400), any other may be written (0600).
struct DataDirectory: Sendable {
    /// What ``files(inFolder:)`` finds.
    struct Entry: Equatable {
        let fileID: String
        let isFinished: Bool
        let modifiedAt: UnixTime
    }

    static let folders = (0..<256).map { Hex.lower([UInt8($0)]) }

    let path: String
    /// Whether data files are written past the page cache.
    let writesDirectly: Bool
    private let calls: FileCalls

    /// Makes what is missing; the names are durable when it returns.
    init(path: String, directIO: DirectIO = .off, calls: FileCalls = FileCalls()) throws {
        self.path = path
        self.calls = calls
        try PrivateFile.makeFolder(path)
        try PrivateFile.makeFolder("\(path)/quarantine")
        try PrivateFile.makeFolder("\(path)/data")
        for folder in Self.folders {
            if mkdir("\(path)/data/\(folder)", 0o700) != 0 && errno != EEXIST { throw StorageFailure.last() }
        }
        try PrivateFile.synchronizeFolder("\(path)/data")
        writesDirectly = directIO.isUsable(in: "\(path)/data")
    }

    /// A new, empty file whose name is durable.
    func create() throws -> (fileID: String, file: DataFile) {
        let fileID = Hex.lower(Random.bytes(16))
        let descriptor = Glibc.open(path(of: fileID), O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0o600)
        guard descriptor >= 0 else { throw StorageFailure.last() }
        let file = DataFile(owning: descriptor, calls: calls)
        try PrivateFile.synchronizeFolder(folder(of: fileID))
        return (fileID, file)
    }

    func open(_ fileID: String, for access: DataFile.Access) throws(StorageFailure) -> DataFile {
        let descriptor = Glibc.open(path(of: fileID), (access == .reading ? O_RDONLY : O_RDWR) | O_CLOEXEC)
        guard descriptor >= 0 else { throw .last() }
        return DataFile(owning: descriptor, calls: calls)
    }

    /// Marks a file as a finished object's. Not synced: the next start makes up for it, from the row.
    func seal(_ fileID: String) {
        chmod(path(of: fileID), 0o400)
    }

    /// A file that is not there is removed already.
    func remove(_ fileID: String) throws(StorageFailure) {
        if unlink(path(of: fileID)) != 0 && errno != ENOENT { throw .last() }
    }

    func quarantine(_ fileID: String) throws {
        guard rename(path(of: fileID), "\(path)/quarantine/\(fileID)") == 0 else { throw StorageFailure.last() }
        try PrivateFile.synchronizeFolder("\(path)/quarantine")
        try PrivateFile.synchronizeFolder(folder(of: fileID))
    }

    /// All data files of one of the ``folders``.
    func files(inFolder folder: String) throws(StorageFailure) -> [Entry] {
        guard let listing = opendir("\(path)/data/\(folder)") else { throw .last() }
        defer { closedir(listing) }
        var entries: [Entry] = []
        while let entry = readdir(listing) {
            let name = withUnsafePointer(to: &entry.pointee.d_name) {
                $0.withMemoryRebound(to: CChar.self, capacity: 256) { String(cString: $0) }
            }
            var status = stat()
            guard name.utf8.count == 32, fstatat(dirfd(listing), name, &status, AT_SYMLINK_NOFOLLOW) == 0 else {
                continue
            }
            let modified = Int64(status.st_mtim.tv_sec) * 1_000_000 + Int64(status.st_mtim.tv_nsec) / 1000
            entries.append(
                Entry(
                    fileID: name, isFinished: status.st_mode & 0o200 == 0,
                    modifiedAt: UnixTime(microseconds: modified)))
        }
        return entries
    }

    private func folder(of fileID: String) -> String {
        "\(path)/data/\(fileID.prefix(2))"
    }

    private func path(of fileID: String) -> String {
        "\(folder(of: fileID))/\(fileID)"
    }
}
