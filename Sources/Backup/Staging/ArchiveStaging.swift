import Basics
import Crypto
import Database
import Foundation
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
