package import Basics
package import Crypto
package import Database
import DirectoryEngine
import ObjectStore

/// Restores an archive into a data directory: a new one, or one whose store belongs to the archive's database.
///
/// Everything is collected and checked in `DIR/restoring`; existing files stay unchanged until the whole archive was verified.
/// While that folder exists no gateway serves the directory, so that a crash at any moment leaves nothing that looks complete;
/// running the restore again starts over. Replaced files are kept in `DIR/replaced-…`.
package struct Restore {
    /// The result of a restore.
    package struct Outcome: Sendable {
        /// The number of objects in the archive's list.
        package var objects = 0
        /// The number of listed objects whose data was already in the store.
        package var found = 0
        /// Listed objects without data anywhere: the store had none when the archive was made.
        package var missing = Tally()
        /// Listed objects whose data is omitted, because it was corrupted or unreadable when the archive was made.
        package var damaged = Tally()
        /// The number of files in the store that the database does not know, and that were moved to quarantine.
        package var quarantined = 0
        /// The number of damaged files that the archive replaced, and that were moved to quarantine.
        package var displaced = 0
        /// The folder of the replaced files; `nil` if no files were replaced.
        package var replaced: String?
        /// The time of the backup in RFC 3339.
        package var createdAt = ""
    }

    /// The folder of a restore, and what of the gateway is elsewhere.
    package struct Destination {
        let path: String
        /// Whether the objects keep their bytes in a bucket. The folder then has to be new or empty.
        let keepsBucket: Bool
        /// The server that has the database of the folder so far, or that is going to have it; the database is restored into the folder in
        /// any case. `nil` = no server may have it.
        let place: String?

        package init(_ path: String, keepsBucket: Bool = false, usedWith place: String? = nil) {
            self.path = path
            self.keepsBucket = keepsBucket
            self.place = place
        }
    }

    let archive: ArchiveContents
    let migrations: [Migration]
    let now: UnixTime
    /// Whether the objects keep their bytes in a bucket, so that only the database and the keys are restored.
    let keepsBucket: Bool

    /// - Parameters:
    ///   - file: the archive.
    ///   - migrations: those of this program.
    /// - Throws: ``ArchiveError``, `DataDirectory.Problem`, `DatabaseError`. Nothing has changed unless files were already being
    ///   replaced.
    package static func run(
        from file: String, passphrase: Secret?, into destination: Destination, migrations: [Migration], now: UnixTime
    ) throws -> Outcome {
        let archive = try ArchiveContents(try ArchiveFile.open(file, passphrase: passphrase))
        let target = try RestoreTarget(destination, for: archive.manifest)
        let restore = Restore(
            archive: archive, migrations: migrations, now: now, keepsBucket: destination.keepsBucket)
        return try restore.run(target)
    }

    private func run(_ target: RestoreTarget) throws -> Outcome {
        var outcome = Outcome()
        let manifest = archive.manifest
        outcome.objects = manifest.objects
        outcome.createdAt = manifest.createdAt
        do {
            let stage = try target.prepare(manifest)
            try gather(stage, live: OfflineStore(directory: target.directory.store), &outcome)
            try stage.check(manifest, migrations, isInBucket: keepsBucket)
        } catch {
            target.giveUp()
            throw error
        }
        if keepsBucket {
            try installBesideBucket(target)
        } else {
            try install(target, &outcome)
        }
        try target.finish()
        return outcome
    }

    /// Puts the database and the keys in place; the rows of the objects name their bytes in the bucket.
    private func installBesideBucket(_ target: RestoreTarget) throws {
        let database = try target.installDatabase(migrations)
        defer { database.close() }
        try database.writeBlocking(mayUseReserve: true) { try StoredFile.renewHistory(in: $0) }
    }

    /// Puts everything in place.
    private func install(_ target: RestoreTarget, _ outcome: inout Outcome) throws {
        let store = OfflineStore(directory: target.directory.store)
        let marksAreComplete = target.sealPresentObjects()
        outcome.replaced = try target.setAside(now)
        outcome.displaced = try target.installFiles()
        let database = try target.installDatabase(migrations)
        defer { database.close() }
        // The archive has every file whole, also those that its gateway kept in a bucket.
        try database.writeBlocking(mayUseReserve: true) { try StoredFile.forgetSegments(in: $0) }
        if try store.identity == nil, let identity = try database.readBlocking({ try StoreIdentity.recorded(in: $0) }) {
            try store.setIdentity(identity)
        }
        let quarantined = try store.reconcile(database, marksAreComplete: marksAreComplete) {
            try CatalogedFiles(connection: $0).isListed($1)
        }
        guard let quarantined else {
            throw DataDirectory.Problem(
                description: "the store in \(target.directory.store) belongs to another gateway")
        }
        outcome.quarantined = quarantined
    }

    /// Reads the whole archive into the stage.
    private func gather(_ stage: RestoreStage, live: OfflineStore, _ outcome: inout Outcome) throws {
        try archive.read(into: stage) { file, facts in
            try restore(file, facts, stage, live, &outcome)
        } absent: { file in
            try absent(file, live, &outcome)
        }
    }

    /// Counts an object of the list whose data is not in the archive.
    private func absent(_ file: StoredFile, _ live: OfflineStore, _ outcome: inout Outcome) throws {
        if try keepsBucket || live.holds(file) { outcome.found += 1 } else { outcome.missing.add(file.fileID) }
    }

    private func restore(
        _ file: StoredFile, _ facts: [UInt8]?, _ stage: RestoreStage, _ live: OfflineStore, _ outcome: inout Outcome
    ) throws {
        if keepsBucket {
            outcome.found += 1
            return
        }
        if try live.holds(file) {
            if let facts { try stage.store.writeFacts(facts, of: file.fileID) }
            outcome.found += 1
            return
        }
        var copy = try stage.store.makeFile(file.fileID)
        try archive.forEachPiece { try copy.append($0) }
        guard try copy.finish() == file.crc64 else {
            // The archive's own checksum detects alterations of the archive; if it matches, the store had these bytes.
            try stage.store.discard(file.fileID)
            outcome.damaged.add(file.fileID)
            return
        }
        if let facts { try stage.store.writeFacts(facts, of: file.fileID) }
    }
}
