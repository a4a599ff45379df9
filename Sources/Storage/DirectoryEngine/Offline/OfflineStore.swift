import Basics
import Checksums
package import Database
import Glibc
package import ObjectStore

/// The directory `DIR/store` while no gateway serves it, for restores and repairs. The caller has locked the data directory.
package struct OfflineStore: Sendable {
    let data: DirectoryEngine

    /// Opens an existing store; nothing is created.
    package init(directory: String) {
        data = DirectoryEngine(existing: directory)
    }

    /// Opens a store for tests that replace system calls.
    init(directory: String, calls: FileCalls) {
        data = DirectoryEngine(existing: directory, calls: calls)
    }

    /// Opens a store for a restore, and creates missing folders.
    package static func make(directory: String) throws -> OfflineStore {
        OfflineStore(data: try DirectoryEngine(path: directory))
    }

    private init(data: DirectoryEngine) {
        self.data = data
    }

    /// The identity; `nil` without an identity: a new folder, or a disk that is not mounted.
    package var identity: StoreIdentity? { get throws { try StoreIdentity.read(directory: data.path) } }

    /// Makes it the store of the database with that identity.
    package func setIdentity(_ identity: StoreIdentity) throws {
        try identity.write(directory: data.path)
    }

    // MARK: Quarantine

    /// Returns the files in quarantine, in the order of their ids.
    package func quarantined() throws -> [QuarantinedFile] {
        try data.quarantined().sorted { $0.fileID < $1.fileID }.map {
            QuarantinedFile(fileID: $0.fileID, size: $0.size, modifiedAt: $0.modifiedAt)
        }
    }

    /// Returns the facts of a file, wherever the file is.
    package func facts(of fileID: String) -> [UInt8]? {
        data.facts(of: fileID)
    }

    /// Moves a quarantined file to its path and runs `body` to write its rows; if that throws, or the bytes differ from the stored
    /// ones, the file is moved back. After a crash in between the next start does that.
    ///
    /// - Throws: ``ReadoptionError``, and the error of `body`.
    package func readopt(
        _ file: StoredFile, _ database: Database, _ body: @escaping @Sendable (Connection) throws -> Void
    ) throws {
        guard try !holdsFile(file.fileID) else { throw ReadoptionError.alreadyExists }
        // A discard of the upload in its earlier rows must not find it there.
        try database.writeBlocking { try StoreRecords($0).removed([file.fileID]) }
        try data.takeFromQuarantine(file.fileID)
        do {
            guard try holds(file) else { throw ReadoptionError.isDamaged }
            try database.writeBlocking { try body($0) }
        } catch DatabaseError.outcomeUnknown {
            // The rows may exist: the next start moves the file to the place in the rows.
            throw DatabaseError.outcomeUnknown
        } catch {
            try data.quarantine(file.fileID)
            throw error
        }
    }

    /// Permanently removes a quarantined file.
    ///
    /// - Returns: whether there was one.
    package func deleteQuarantined(_ fileID: String) throws -> Bool {
        try DirectoryEngine.isFileID(fileID) && data.removeQuarantined(fileID)
    }

    // MARK: Files

    package func holdsFile(_ fileID: String) throws -> Bool {
        try data.exists(data.path(of: fileID))
    }

    /// Whether the file is at its path with the stored bytes, all of which are read. False for an unreadable file.
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

    /// Moves a complete file to the store `other` on the same disk; a file in its place there moves to quarantine.
    ///
    /// - Returns: whether there was one.
    package func move(_ fileID: String, to other: OfflineStore) throws -> Bool {
        let isReplaced = try other.holdsFile(fileID)
        if isReplaced { try other.data.quarantine(fileID) }
        try DirectoryEngine.moveFile(data.path(of: fileID), to: other.data.path(of: fileID))
        return isReplaced
    }

    /// Moves all facts of files for which the store `other` has none.
    package func moveFacts(to other: OfflineStore) throws {
        for folder in DirectoryEngine.folders {
            let missing = try data.factsIDs(inFolder: folder).filter { try !other.data.hasFacts(of: $0) }
            for fileID in missing {
                try DirectoryEngine.moveFile(data.factsPath(of: fileID), to: other.data.factsPath(of: fileID))
            }
            if !missing.isEmpty { try PrivateFile.synchronizeFolder("\(other.data.path)/facts/\(folder)") }
        }
    }

    /// Makes the results of ``move(_:to:)`` for these files durable.
    ///
    /// - Parameter prefixes: the first two digits of their ids.
    package func synchronizeNames(_ prefixes: Set<String>) throws {
        for folder in prefixes {
            try PrivateFile.synchronizeFolder("\(data.path)/data/\(folder)")
        }
    }

    /// Calls `body` with the ids of all data files.
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

    /// Makes a new file for a restored object, marked as finished.
    package func makeFile(_ fileID: String) throws -> RestoredFile {
        guard DirectoryEngine.isFileID(fileID) else { throw StorageFailure.missing }
        let descriptor = open(data.path(of: fileID), O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0o400)
        guard descriptor >= 0 else { throw StorageFailure.last() }
        return RestoredFile(DataFile(owning: descriptor))
    }
}

/// The file of a restored object, written sequentially.
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

    /// Makes the file durable.
    ///
    /// - Returns: CRC-64/XZ of the written bytes.
    package func finish() throws -> UInt64 {
        try file.synchronizeAndClose()
        return crc64.value
    }
}

extension OfflineStore {
    /// Gives the empty store `other` on the same disk every finished file of this one, including those in quarantine, and their
    /// facts. Both stores then share the bytes by hard links: nothing is copied, and removing a file from one leaves it in the other.
    /// Files of uploads in progress are omitted, because a gateway writes to them. Durable on return.
    package func linkFinishedFiles(to other: OfflineStore) throws {
        for folder in DirectoryEngine.folders {
            let files = try data.files(inFolder: folder).filter { try data.isFinished($0) }
            for file in files { try link(data.path(of: file.fileID), other.data.path(of: file.fileID)) }
            if !files.isEmpty { try PrivateFile.synchronizeFolder("\(other.data.path)/data/\(folder)") }
            let facts = try data.factsIDs(inFolder: folder)
            for fileID in facts { try link(data.factsPath(of: fileID), other.data.factsPath(of: fileID)) }
            if !facts.isEmpty { try PrivateFile.synchronizeFolder("\(other.data.path)/facts/\(folder)") }
        }
        for file in try data.quarantined() {
            try link("\(data.quarantinePath)/\(file.fileID)", "\(other.data.quarantinePath)/\(file.fileID)")
        }
        try PrivateFile.synchronizeFolder(other.data.quarantinePath)
    }

    private func link(_ source: String, _ target: String) throws {
        guard data.calls.link(source, target) == 0 else { throw StorageFailure.last() }
    }
}
