import Basics
import Checksums
package import Crypto
package import Database
import ObjectStore

/// A check of a whole archive by everything that a restore checks: each byte, the database, the keys, and each object's CRC-64.
package struct ArchiveVerification {
    /// The contents of an archive that can be restored.
    package struct Outcome: Sendable {
        /// The time of the backup in RFC 3339.
        package let createdAt: String
        /// The number of objects in the archive's list.
        package let objects: Int
        /// Whether the objects' data is in the archive.
        package let hasObjects: Bool
        /// The id of the store and its database.
        let storeID: String
        /// The bytes of the objects in the archive.
        package internal(set) var bytes: Int64 = 0
        /// Listed objects without data in the archive; empty for an archive without the data of objects.
        package internal(set) var missing = Tally()
        /// Listed objects whose data does not match their checksum: the store had already lost it when the backup was made.
        package internal(set) var damaged = Tally()
    }

    /// Reads an archive to its end.
    ///
    /// - Parameters:
    ///   - file: the archive.
    ///   - scratch: an existing folder for a copy of the archive's database and keys, which is removed on return.
    ///   - migrations: those of this program.
    /// - Throws: ``ArchiveError``, `DataDirectory.Problem`, `DatabaseError`.
    package static func run(
        of file: String, passphrase: Secret?, scratch: String, migrations: [Migration]
    ) throws -> Outcome {
        try run(of: try ArchiveFile.open(file, passphrase: passphrase), scratch: scratch, migrations: migrations)
    }

    /// - Parameters:
    ///   - database: the path to which the archive's database is moved, with this program's tables; `nil` = it is removed.
    ///   - accept: called with the manifest before anything else is read; throws to refuse the archive.
    static func run(
        of source: any ArchiveSource, scratch: String, migrations: [Migration],
        keepingDatabaseAs database: String? = nil,
        accept: (Manifest) throws -> Void = { _ in }
    ) throws -> Outcome {
        let contents = try ArchiveContents(source)
        let manifest = contents.manifest
        try accept(manifest)
        let folder = "\(scratch)/verify-\(Random.hex(8))"
        do throws(PrivateFile.Failure) {
            try PrivateFile.makeFolder(folder)
        } catch {
            throw DataDirectory.Problem(description: "cannot create \(folder): \(error.reason)")
        }
        defer { try? PrivateFile.remove(folder) }
        let stage = try RestoreStage(emptying: folder)
        var outcome = Outcome(
            createdAt: manifest.createdAt, objects: manifest.objects, hasObjects: manifest.hasObjects,
            storeID: manifest.storeID)
        try contents.read(into: stage) { file, _ in
            var crc64 = CRC64()
            try contents.forEachPiece { crc64.update($0) }
            if crc64.value == file.crc64 { outcome.bytes += file.size } else { outcome.damaged.add(file.fileID) }
        } absent: { file in
            if manifest.hasObjects { outcome.missing.add(file.fileID) }
        }
        try stage.check(manifest, migrations)
        if let database { try DataDirectory.move(stage.database, to: database) }
        return outcome
    }
}
