import Basics
import Database
import Glibc

/// `DIR/store` while no gateway serves it: what restores and repairs do there. Whoever has one holds the data
/// directory's lock.
package struct OfflineStore: Sendable {
    /// A finished object's file that no row speaks of.
    package struct Quarantined: Sendable, Equatable {
        package let fileID: String
        /// Bytes.
        package let size: Int64
        /// When it was last written.
        package let modifiedAt: UnixTime
    }

    /// Why a file stays in quarantine.
    package enum ReadoptionError: Error, Sendable, CustomStringConvertible {
        case isThere
        case isDamaged

        package var description: String {
            switch self {
            case .isThere: "the store already has another copy"
            case .isDamaged: "its bytes do not match its checksum"
            }
        }
    }

    let data: DirectoryEngine

    /// One that is there; nothing is made.
    package init(directory: String) {
        data = DirectoryEngine(existing: directory)
    }

    /// For tests, which put system calls of their own in the place of the kernel's.
    init(directory: String, calls: FileCalls) {
        data = DirectoryEngine(existing: directory, calls: calls)
    }

    /// One for a restore: its folders are made where they are missing.
    package static func make(directory: String) throws -> OfflineStore {
        OfflineStore(data: try DirectoryEngine(path: directory))
    }

    private init(data: DirectoryEngine) {
        self.data = data
    }

    /// Nil without one: a new folder, or a disk that is not mounted.
    package var identity: StoreIdentity? { get throws { try StoreIdentity.read(directory: data.path) } }

    /// Makes it the store of a database that says so.
    package func setIdentity(_ identity: StoreIdentity) throws {
        try identity.write(directory: data.path)
    }

    // MARK: quarantine

    /// In the order of their ids.
    package func quarantined() throws -> [Quarantined] {
        try data.quarantined().sorted { $0.fileID < $1.fileID }.map {
            Quarantined(fileID: $0.fileID, size: $0.size, modifiedAt: $0.modifiedAt)
        }
    }

    /// What stands beside a file, wherever that is.
    package func facts(of fileID: String) -> [UInt8]? {
        data.facts(of: fileID)
    }

    /// Puts a quarantined file at its path and has `body` write the rows that speak of it; where that throws, or the bytes
    /// are not those that were stored, it is put back. After a crash in between the next start does that.
    ///
    /// - Throws: ``ReadoptionError``, and what `body` throws.
    package func readopt(
        _ file: StoredFile, _ database: Database, _ body: @escaping @Sendable (Connection) throws -> Void
    ) throws {
        guard try !holdsFile(file.fileID) else { throw ReadoptionError.isThere }
        // A discard of the upload that its rows once were must not find it there.
        try database.writeBlocking { try StoreRecords($0).removed([file.fileID]) }
        try data.takeFromQuarantine(file.fileID)
        do {
            guard try holds(file) else { throw ReadoptionError.isDamaged }
            try database.writeBlocking { try body($0) }
        } catch DatabaseError.writerEnded {
            // The rows may be there: the next start puts the file where they say that it is.
            throw DatabaseError.writerEnded
        } catch {
            try data.quarantine(file.fileID)
            throw error
        }
    }

    /// Removes a quarantined file for good.
    ///
    /// - Returns: whether there was one.
    package func deleteQuarantined(_ fileID: String) throws -> Bool {
        try DirectoryEngine.isFileID(fileID) && data.removeQuarantined(fileID)
    }

    // MARK: files

    package func holdsFile(_ fileID: String) throws -> Bool {
        try data.exists(data.path(of: fileID))
    }

    /// Whether the file is at its path with the bytes that were stored; reads all of it. A file that the disk cannot read
    /// does not hold them.
    package func holds(_ file: StoredFile) throws -> Bool {
        guard let open = try? data.open(file.fileID, for: .reading) else { return false }
        do {
            guard try open.size() == file.size else { return false }
            var crc64 = CRC64()
            try open.forEachPiece { crc64.update($0) }
            return crc64.value == file.crc64
        } catch StorageFailure.unreadable {
            return false
        }
    }

    /// Moves a whole file of this one's to the store `other` on the same disk; what is in its place there goes into
    /// quarantine.
    package func move(_ fileID: String, to other: OfflineStore) throws {
        if try other.holdsFile(fileID) { try other.data.quarantine(fileID) }
        guard rename(data.path(of: fileID), other.data.path(of: fileID)) == 0 else { throw StorageFailure.last() }
    }

    /// Moves all facts, where the store `other` has none of the file.
    package func moveFacts(to other: OfflineStore) throws {
        for folder in DirectoryEngine.folders {
            let missing = try data.factsIDs(inFolder: folder).filter { try !other.data.hasFacts(of: $0) }
            for fileID in missing {
                guard rename(data.factsPath(of: fileID), other.data.factsPath(of: fileID)) == 0 else {
                    throw StorageFailure.last()
                }
            }
            if !missing.isEmpty { try PrivateFile.synchronizeFolder("\(other.data.path)/facts/\(folder)") }
        }
    }

    /// Makes what ``move(_:to:)`` did with these files durable.
    ///
    /// - Parameter prefixes: the first two digits of their ids.
    package func synchronizeNames(_ prefixes: Set<String>) throws {
        for folder in prefixes {
            try PrivateFile.synchronizeFolder("\(data.path)/data/\(folder)")
        }
    }

    /// The ids of all data files.
    package func forEachFile(_ body: (String) throws -> Void) throws {
        for folder in DirectoryEngine.folders {
            for entry in try data.files(inFolder: folder) { try body(entry.fileID) }
        }
    }

    package func writeFacts(_ facts: [UInt8], of fileID: String) throws {
        try data.writeFacts(facts, of: fileID)
    }

    /// Removes a file that a restore made and found to be wrong.
    package func discard(_ fileID: String) throws {
        try data.remove(fileID)
    }

    /// A new file for an object that is restored, marked as finished.
    package func makeFile(_ fileID: String) throws -> RestoredFile {
        guard DirectoryEngine.isFileID(fileID) else { throw StorageFailure.missing }
        let descriptor = open(data.path(of: fileID), O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0o400)
        guard descriptor >= 0 else { throw StorageFailure.last() }
        return RestoredFile(DataFile(owning: descriptor))
    }
}

/// The file of an object that is restored; written in order.
package struct RestoredFile {
    private let file: DataFile
    private var crc64 = CRC64()
    private var size: Int64 = 0

    init(_ file: DataFile) {
        self.file = file
    }

    package mutating func append(_ bytes: UnsafeRawBufferPointer) throws {
        try file.write(bytes, at: size)
        crc64.update(bytes)
        size += Int64(bytes.count)
    }

    /// Makes it durable.
    ///
    /// - Returns: CRC-64/XZ of what was written.
    package func finish() throws -> UInt64 {
        try file.synchronizeAndClose()
        return crc64.value
    }
}
