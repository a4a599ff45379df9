import Basics
import Crypto
import Database
import Glibc
import ObjectStore

/// Stores an arriving archive in the folder for restores, and checks it on the way. Blocks.
struct ArchiveStaging: Sendable {
    let folder: RestoreFolder
    /// The id of the present store.
    let storeID: String?
    let minimumFreeBytes: Int64
    let migrations: [Migration]

    /// Returns when the archive is complete, intact and durable.
    ///
    /// - Throws: ``ArchiveError``, `DataDirectory.Problem`, `DatabaseError`, or the error of the source; then no archive is staged.
    func store(_ arriving: any ArchiveSource, as stagingID: String, passphrase: Secret?) throws -> StagedDescription {
        try folder.removeArchive()
        do {
            return try write(arriving, stagingID, passphrase)
        } catch {
            try? folder.removeArchive()
            throw error
        }
    }

    private func write(
        _ arriving: any ArchiveSource, _ stagingID: String, _ passphrase: Secret?
    ) throws -> StagedDescription {
        let descriptor = open(folder.partial, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0o600)
        guard descriptor >= 0 else { throw DataDirectory.Problem.last("cannot write \(folder.partial)") }
        defer { close(descriptor) }
        let replay = ArchiveReplay(arriving)
        let plain = try ArchiveFile.open(passphrase: passphrase) {
            replay.rewind()
            return replay
        }
        try PrivateFile.makeFolder(folder.scratch)
        let stored = StoredSource(
            plain, to: descriptor, in: folder.path, minimumFreeBytes: minimumFreeBytes)
        let outcome = try ArchiveVerification.run(
            of: stored, scratch: folder.scratch, migrations: migrations, keepingDatabaseAs: folder.contents,
            accept: accept
        )
        try folder.remove(folder.scratch)
        try Database.inspect(path: folder.contents, DataComparison.check)
        guard fsync(descriptor) == 0, rename(folder.partial, folder.archive) == 0 else {
            throw DataDirectory.Problem.last("cannot finish \(folder.archive)")
        }
        try PrivateFile.synchronizeFolder(folder.path)
        let description = StagedDescription(
            stagingID: stagingID, createdAt: outcome.createdAt, size: stored.count, storeID: outcome.storeID,
            hasObjects: outcome.hasObjects, objectBytes: outcome.bytes, missing: outcome.missing.count,
            damaged: outcome.damaged.count)
        try folder.description.write(description, in: folder)
        return description
    }

    /// Refuses archives that a restore would refuse.
    private func accept(_ manifest: Manifest) throws {
        guard manifest.hasObjects || manifest.objects == 0 || manifest.storeID == storeID else {
            throw DataDirectory.Problem(
                description: """
                    the archive lists \(manifest.objects) objects without their data, and this gateway does not have its store
                    """)
        }
    }
}

/// An input whose first bytes can be read a second time.
final class ArchiveReplay: ArchiveSource {
    /// The number of bytes that can be read again.
    private static let limit = 64

    private let source: any ArchiveSource
    private var start: [UInt8] = []
    private var again: ArraySlice<UInt8> = []

    init(_ source: any ArchiveSource) {
        self.source = source
    }

    /// Begins again at the first byte; at most 64 bytes may have been read.
    func rewind() { again = start[...] }

    func read(_ count: Int) throws -> [UInt8] {
        let repeated = Array(again.prefix(count))
        again = again.dropFirst(repeated.count)
        guard repeated.count < count else { return repeated }
        let fresh = try source.read(count - repeated.count)
        start += fresh.prefix(max(0, Self.limit - start.count))
        return repeated + fresh
    }
}

/// Writes what is read from an archive to a file.
final class StoredSource: ArchiveSource {
    /// The number of bytes after which the free space is checked again.
    private static let interval: Int64 = 64 << 20

    private(set) var count: Int64 = 0
    private let source: any ArchiveSource
    private let sink: FileSink
    private let folder: String
    private let minimumFreeBytes: Int64
    private var checkAt: Int64 = 0

    /// - Parameters:
    ///   - descriptor: that of the file, which remains the caller's.
    ///   - folder: a folder on the same disk.
    ///   - minimumFreeBytes: the bytes that must stay free on the disk.
    init(_ source: any ArchiveSource, to descriptor: Int32, in folder: String, minimumFreeBytes: Int64) {
        self.source = source
        sink = FileSink(descriptor)
        self.folder = folder
        self.minimumFreeBytes = minimumFreeBytes
    }

    func read(_ count: Int) throws -> [UInt8] {
        if self.count >= checkAt {
            checkAt = self.count + Self.interval
            if let free = DiskSpace.available(at: folder), free < minimumFreeBytes + Self.interval {
                throw DataDirectory.Problem(
                    description: "the disk of the data directory has too little free space for the archive")
            }
        }
        let bytes = try source.read(count)
        try sink.write(bytes)
        self.count += Int64(bytes.count)
        return bytes
    }
}
