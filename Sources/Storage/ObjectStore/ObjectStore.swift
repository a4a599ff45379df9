package import Basics
package import Crypto
package import Database
package import StoreProtocol

/// The gateway's object store: bytes in an engine, metadata in the database.
///
/// Acknowledged data survives `kill -9` and power loss: bytes are synced before their row commits, and the row commits before the
/// response is sent. `PartUpload` describes the order.
package final class ObjectStore: Sendable {
    /// The disk currently accepts no writes.
    package struct Unwritable: Error, CustomStringConvertible {
        let cause: any Error

        package var description: String { "\(cause)" }
    }

    package static let migrations = StoreSchema.migrations

    package let issuer: CredentialIssuer
    let configuration: ObjectStoreConfiguration
    let database: Database
    package let engine: any ObjectEngine
    package let clock: any WallClock
    let writes = WritesInFlight()
    let space: FreeSpace
    private let threads: BlockThreads
    let buckets: ConfiguredBuckets
    let work: StoreWork

    /// - Parameters:
    ///   - engine: works for this store only.
    ///   - permit: `nil` = no file is removed by its age.
    package init(
        engine: any ObjectEngine, database: Database, keyring: Keyring, clock: any WallClock = SystemClock(),
        permit: DeletionPermit? = nil, configuration: ObjectStoreConfiguration = ObjectStoreConfiguration()
    ) throws {
        self.engine = engine
        self.database = database
        self.clock = clock
        self.configuration = configuration
        issuer = CredentialIssuer(keyring: keyring)
        threads = BlockThreads(memory: configuration.bufferBytes)
        buckets = try ConfiguredBuckets(configuration, at: clock.now(), in: database)
        space = FreeSpace(
            floor: configuration.minimumFreeBytes, clock: clock, isReserveReleased: { database.isReserveReleased }
        ) { try engine.freeBytes() }
        let removalDelay = configuration.hasReplicas ? configuration.removalDelay : nil
        work = try StoreWork(engine, database, clock, removalDelay: removalDelay) { writtenAt in
            guard let permit else { return false }
            return try permit.corrected(writtenAt) < permit.now().subtracting(configuration.orphanAge)
        }
        // With a database of another generation, the row that decides about a file may be wrong.
        guard !isForeign else {
            work.stopRemovals()
            return
        }
        work.removals.resume()
        work.discards.resume()
    }

    /// Whether the database and the engine's files have different generations: nothing is compared, removed or swept then.
    package var isForeign: Bool { work.upkeep.condition == .foreign }

    /// Whether files and rows are being compared since this start, because there was no clean stop before it.
    package var isReconciled: Bool { work.upkeep.condition == .unclean }

    /// The differences found so far between files and rows after an unclean shutdown.
    package var reconciliation: StoreReconciliation { work.upkeep.reconciliation }

    /// The number of folders that are not compared with the database yet; 0 also if no comparison is needed.
    package var foldersToReconcile: Int { work.upkeep.foldersToReconcile }

    /// Returns when all files were compared with the rows, or ``stopBackgroundWork()`` was called.
    package func finishReconciliation() async { await work.upkeep.finish() }

    /// Ends all work; called when no request is in progress any more, before the database is closed. If files and rows agree, that
    /// is recorded, and the next start need not compare them.
    package func close() {
        stopBackgroundWork()
        work.drain()
        work.upkeep.recordCleanStop()
    }

    /// Whether a new upload may begin. If the free space is unknown, the disk's own errors will tell.
    package var hasSpaceForNewUpload: Bool { (try? space.hasSpaceForNewUpload()) ?? true }

    /// The free bytes for objects; `nil` if that is unknown.
    package var freeBytes: Int64? { (try? space.free()) ?? nil }

    /// The bytes for objects, free or not; `nil` if that is unknown.
    package var sizeBytes: Int64? { (try? engine.sizeBytes()) ?? nil }

    /// The number of data files that are to be removed, at most ``mostCountedRemovals``; `nil` = the database cannot be read.
    package var waitingRemovals: Int? {
        try? database.readBlocking { try StoreRecords($0).countScheduledRemovals(limit: Self.mostCountedRemovals) }
    }

    /// The number of waiting removals up to which they are counted, so that it takes little time.
    package static let mostCountedRemovals = 100_000

    /// The free bytes below which no new upload can begin; 0 = no floor.
    package var minimumFreeBytes: Int64 { space.floor }

    /// Runs `body` while no data file is removed, by any gateway: files with rows at its beginning can be read to the end.
    package func keepingFiles<T: Sendable>(_ body: () async throws -> T) async throws -> T {
        try await work.removals.pausing(body)
    }

    /// Writes the facts beside a finished object's file, with which it can be listed again if a database does not know it; durable
    /// on return. Existing facts stay, and are made durable if an earlier process could not.
    ///
    /// - Throws: ``Unwritable``.
    package func describe(_ fileID: String, _ facts: [UInt8]) async throws(Unwritable) {
        try await work.factsWriter.worker(for: fileID).run { [engine] () throws(Unwritable) in
            do {
                guard try engine.hasFacts(of: fileID) else { return try engine.writeFacts(facts, of: fileID) }
                try engine.synchronizeFacts(of: fileID)
            } catch {
                throw Unwritable(cause: error)
            }
        }
    }

    /// Deletes the remaining rows of ended multipart uploads, which a process did not delete before it ended. Called every few
    /// minutes.
    ///
    /// - Returns: the number of deleted rows.
    package func sweepDiscards() async throws -> Int {
        try await work.discards.sweep()
    }

    /// Deletes the usage rows of uploads without any data; called every few minutes.
    ///
    /// - Returns: the number of deleted rows.
    package func sweepUsage() async throws -> Int {
        var (sum, count) = (0, Discards.batch)
        while count == Discards.batch, !Task.isCancelled {
            count = try await database.write(mayUseReserve: true) {
                try StoreRecords($0).forgetEmptyUsage(limit: Discards.batch)
            }
            sum += count
        }
        return sum
    }

    /// Removes the files that are still scheduled for removal, because a process ended before or a removal failed. Called every few
    /// minutes.
    ///
    /// - Returns: the number of removed files.
    package func sweepRemovals() async throws -> Int {
        try await work.removals.sweep()
    }

    /// Begins to remove old files of the engine that no row refers to, if that is due. Called every few minutes.
    ///
    /// - Returns: the number of files that were removed since the last call.
    package func sweepFiles(_ permit: DeletionPermit) -> Int {
        work.upkeep.sweep { [age = configuration.orphanAge] writtenAt in
            try permit.corrected(writtenAt) < permit.now().subtracting(age)
        }
    }

    /// Stops all work except that of requests: the process will end soon, and the next one continues.
    package func stopBackgroundWork() {
        work.stopRemovals()
        work.upkeep.stop()
    }

    /// Returns the static key with an id; it does not prove that a request was signed with it.
    package func staticKey(id: String) -> StaticKey? { buckets.staticKeys[id] }

    /// Reserves memory for receiving a body.
    ///
    /// - Parameters:
    ///   - length: `nil` = unknown.
    ///   - owner: the party that sends the body.
    /// - Throws: `outOfMemory` if the bodies in progress use all of it, or those of the party its share.
    func share(length: Int64?, for owner: WorkOwner) throws(ObjectStoreError) -> BlockThreads.Share {
        if let share = threads.share(length: length, for: owner) { return share }
        throw .outOfMemory
    }

    /// Reserves memory for a document of a Complete, and for its parsed list.
    ///
    /// - Parameters:
    ///   - length: `nil` = unknown.
    ///   - owner: the party that sends the document.
    /// - Throws: `outOfMemory` if the bodies in progress use all of it, or those of the party its share.
    package func documentShare(
        length: Int64?, for owner: WorkOwner
    ) throws(ObjectStoreError) -> BlockThreads.Share {
        let length = min(length ?? .max, Int64(CompletionList.maximumBytes))
        if let share = threads.documentShare(length: length, for: owner) { return share }
        throw .outOfMemory
    }

    /// Makes the pipeline from a body into `sink`; see ``BodyPipeline``.
    func pipeline(
        _ checks: BodyChecks, into sink: (any BodySink)?, share: BlockThreads.Share? = nil,
        permit: @escaping BodyPipeline.Permit = { try $0() }
    ) -> BodyPipeline {
        BodyPipeline(checks, into: sink, threads: sink?.mayBlock == true ? nil : threads, share: share) {
            [space] write in
            try space.requireForBody()
            try permit(write)
        }
    }

    /// Opens the bytes of a finished object.
    ///
    /// - Throws: `StorageFailure.missing` if the file is missing or has another size.
    package func open(_ object: StoredObject) throws -> any StoredBytes {
        let file = try engine.open(object.fileID)
        guard try file.size() == object.size else { throw StorageFailure.missing }
        return file
    }

    /// Returns a finished object.
    ///
    /// - Throws: `noSuchObject`.
    func object(_ claims: CredentialClaims) throws -> StoredObject {
        let found = try database.readBlocking { try StoreRecords($0).object(bucket: claims.bucket, key: claims.key) }
        guard let found, found.uploadID == claims.uploadID else { throw ObjectStoreError.noSuchObject }
        return found
    }

    /// Runs `body` with a finished object, and repeats it with the current one if another request replaced the object meanwhile, so
    /// that its file was missing.
    ///
    /// - Throws: `noSuchObject`, and the error of `body`.
    package func withObject<T>(_ access: DecidedAccess, _ body: (StoredObject) throws -> T) throws -> T {
        guard let object = access.object, object.uploadID == access.claims.uploadID else {
            throw ObjectStoreError.noSuchObject
        }
        return try withObject(object, access.claims, body)
    }

    private func withObject<T>(
        _ known: StoredObject, _ claims: CredentialClaims, _ body: (StoredObject) throws -> T
    ) throws -> T {
        var object = known
        while true {
            do {
                return try body(object)
            } catch StorageFailure.missing {
                let present = try self.object(claims)
                guard present.fileID != object.fileID else { throw StorageFailure.missing }
                object = present
            }
        }
    }
}
