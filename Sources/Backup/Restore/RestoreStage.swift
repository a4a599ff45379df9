import Basics
import Crypto
import Database
import DirectoryEngine
import Glibc
import ObjectStore

/// The folder `DIR/restoring` with the files that a restore has read so far.
struct RestoreStage {
    let path: String
    let store: OfflineStore

    var database: String { path + "/gateway.db" }
    var keys: String { path + "/keys" }

    /// Empties the folder, except for `manifest`.
    init(emptying path: String) throws {
        self.path = path
        for name in try FolderListing.names(in: path) where name != "manifest" {
            try PrivateFile.remove("\(path)/\(name)")
        }
        try PrivateFile.makeFolder(path + "/keys")
        store = try OfflineStore.make(directory: path + "/store")
    }

    /// Writes a new file that only the server's user may read; it is durable on return.
    func write(_ name: String, _ forEachPiece: ((UnsafeRawBufferPointer) throws -> Void) throws -> Void) throws {
        let descriptor = open("\(path)/\(name)", O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0o600)
        guard descriptor >= 0 else { throw Self.failure(name) }
        defer { close(descriptor) }
        let sink = FileSink(descriptor)
        try forEachPiece { try sink.write($0) }
        guard fsync(descriptor) == 0 else { throw Self.failure(name) }
    }

    func list() throws -> ArchivedObjects {
        try ArchivedObjects(path: path + "/list")
    }

    /// Checks that this program can open the database, that it is undamaged and belongs to the store, and that its root key
    /// is in the archive.
    ///
    /// - Parameter isInBucket: whether its objects must have their bytes in a bucket.
    func check(_ manifest: Manifest, _ migrations: [Migration], isInBucket: Bool = false) throws {
        let database = try Database(path: self.database, migrations: migrations)
        defer { database.close() }
        let keyring = try Keyring.open(keys + "/root", create: false)
        let (problems, identity, hasItsKey) = try database.readBlocking { connection in
            (
                try connection.query("PRAGMA integrity_check(10)") { $0.text("integrity_check") },
                try StoreIdentity.recorded(in: connection), try RootKeyRecords.matches(keyring, in: connection)
            )
        }
        guard problems == ["ok"] else {
            throw ArchiveError.altered("its database is damaged: \(problems.first ?? "")")
        }
        guard identity?.id == manifest.storeID, identity?.generation == manifest.generation else {
            throw ArchiveError.altered("its database belongs to another store")
        }
        guard hasItsKey != false else {
            throw ArchiveError.altered("its root key is not that of its database")
        }
        guard try !isInBucket || !database.readBlocking({ try StoredFile.anyIsInDirectory(in: $0) }) else {
            throw DataDirectory.Problem(
                description:
                    "the archive's objects have their bytes in a data directory: restore it without --keep-bucket")
        }
    }

    private static func failure(_ name: String) -> DataDirectory.Problem {
        DataDirectory.Problem.last("cannot write \(name)")
    }
}

/// An archive's list of objects, read from a file while the objects' data is read.
final class ArchivedObjects {
    private let source: FileSource

    init(path: String) throws {
        source = try FileSource(path: path)
    }

    func next() throws -> StoredFile? {
        let entry = try source.read(StoredFile.entryCount)
        if entry.isEmpty { return nil }
        guard let file = StoredFile(listEntry: entry) else { throw ArchiveError.altered("malformed object list") }
        return file
    }

    /// Advances to the entry of an object's data.
    ///
    /// - Parameter passOver: called for each entry before it, whose data is not in the archive.
    func advance(to record: ArchiveRecord, passOver: (StoredFile) throws -> Void) throws -> StoredFile {
        while let file = try next() {
            if file.fileID == record.name {
                guard file.size == record.length else {
                    throw ArchiveError.altered("the object \(file.fileID) does not have the size in the object list")
                }
                return file
            }
            try passOver(file)
        }
        throw ArchiveError.altered("the object \(record.name) is missing from the object list or out of order")
    }
}
