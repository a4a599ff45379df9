import Basics
import Crypto
import Database
import Dispatch
import StoreProtocol

/// The gateway's objects: bytes in a local directory, what they are in the database.
///
/// What a request was told to be stored survives `kill -9` and power loss: bytes are synced before their row commits,
/// and the row commits before the answer leaves. The order is written down in `PartUpload`.
package final class ObjectStore: Sendable {
    /// The disk takes nothing now.
    package struct Unwritable: Error, CustomStringConvertible {
        let cause: any Error

        package var description: String { "\(cause)" }
    }

    package static let migrations = StoreRecords.migrations

    /// Whether the database is not of the data directory's age: nothing is compared, removed or swept then.
    package let isForeign: Bool
    /// Whether files and rows are compared since this start, for want of a clean stop before it.
    package let isReconciled: Bool
    package let issuer: CredentialIssuer
    let configuration: ObjectStoreConfiguration
    let database: Database
    /// The directory that the database goes with.
    let data: DirectoryEngine
    let engine: any ObjectEngine
    package let clock: any WallClock
    let writes = WritesInFlight()
    let space: FreeSpace
    private let threads: BlockThreads
    private let staticKeys: [String: StaticKey]
    let removals: FileRemovals
    let discards: Discards
    let reconciler: Reconciler
    let factsWriter = FactsWriter()

    /// - Parameters:
    ///   - directory: `DIR/store`; made where it is missing.
    ///   - permit: `nil` = no file is removed for its age.
    package init(
        directory: String, database: Database, keyring: Keyring, clock: any WallClock = SystemClock(),
        permit: DeletionPermit? = nil, configuration: ObjectStoreConfiguration = ObjectStoreConfiguration()
    ) throws {
        self.database = database
        self.clock = clock
        self.configuration = configuration
        issuer = CredentialIssuer(keyring: keyring)
        threads = BlockThreads(memory: configuration.bufferBytes)
        staticKeys = Dictionary(configuration.staticKeys.map { ($0.id, $0) }, uniquingKeysWith: { first, _ in first })
        data = try DirectoryEngine(path: directory, directIO: configuration.directIO, calls: configuration.calls)
        space = FreeSpace(
            floor: configuration.minimumFreeBytes, clock: clock, isReserveReleased: { database.isReserveReleased }
        ) { try configuration.freeBytes(directory) }
        engine = configuration.engine(data)
        removals = FileRemovals(engine, database)
        discards = Discards(database, removals)
        reconciler = Reconciler(data, database, factsWriter)
        let condition = try StoreIdentity.advance(
            directory: directory, folders: data.foldersDigest(), database: database)
        isForeign = condition == .foreign
        isReconciled = condition == .unclean
        // Beside a database of another age the row that a file is to go by may be wrong.
        guard !isForeign else {
            stopRemovals()
            return
        }
        if isReconciled {
            reconciler.begin { writtenAt in
                guard let permit else { return false }
                return try permit.corrected(writtenAt) < permit.now().subtracting(configuration.orphanAge)
            }
        }
        removals.resume()
        discards.resume()
    }

    /// What was found so far where files and rows did not agree after an unclean end.
    package var reconciliation: StoreReconciliation { reconciler.found }

    /// How many of the 256 data folders are still to be compared with the database; 0 also where none had to be.
    package var foldersToReconcile: Int { reconciler.foldersLeft }

    /// Returns when all files were compared with the rows, or ``stopBackgroundWork()`` was called.
    package func finishReconciliation() async { await reconciler.finish() }

    /// Ends all work; to be called when no request is under way any more, before the database is closed. Where files and rows
    /// agree, that is recorded, and the next start need not compare them.
    package func close() {
        stopBackgroundWork()
        discards.drain()
        removals.drain()
        reconciler.drain()
        factsWriter.drain()
        guard !isForeign, reconciler.isSettled, data.pending.isEmpty, let digest = data.foldersDigest() else { return }
        // Where that fails, the next start compares them.
        _ = try? database.writeBlocking(mayUseReserve: true) { try StoreRecords($0).setFoldersAtStop(digest) }
    }

    /// Whether a new upload may begin. Where the disk cannot be asked, its own errors will tell.
    package var hasRoomForNewUpload: Bool { (try? space.hasRoomForNewUpload()) ?? true }

    /// Bytes that are free where the objects are; `nil` where the disk cannot be asked.
    package var freeBytes: Int64? { try? space.free() }

    /// Bytes below which no new upload begins; 0 = there is no floor.
    package var minimumFreeBytes: Int64 { space.floor }

    /// Runs `body` while no data file goes: what rows speak of when it begins can be read to its end.
    package func keepingFiles<T: Sendable>(_ body: () async throws -> T) async rethrows -> T {
        try await removals.pausing(body)
    }

    /// Writes beside a finished object's file what it takes to list it again where a database does not know it; durable
    /// when it returns. What is written already stays, and is made durable where an earlier process could not.
    ///
    /// - Throws: ``Unwritable``.
    package func describe(_ fileID: String, _ facts: [UInt8]) async throws {
        try await withCheckedThrowingContinuation { continuation in
            factsWriter.perform(for: fileID) { [engine] in
                continuation.resume(
                    with: Result {
                        guard try engine.hasFacts(of: fileID) else { return try engine.writeFacts(facts, of: fileID) }
                        try engine.synchronizeFacts(of: fileID)
                    }.mapError { Unwritable(cause: $0) })
            }
        }
    }

    /// Deletes the rows of multipart uploads that ended and that are still there: those of a process that ended before it
    /// came to them. To be called every few minutes.
    ///
    /// - Returns: how many it deleted.
    package func sweepDiscards() async throws -> Int {
        try await discards.sweep()
    }

    /// Deletes what is left of the accounts of uploads that hold nothing any more; to be called every few minutes.
    ///
    /// - Returns: how many it deleted.
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

    /// Removes the files that are still scheduled for it: those of a process that ended before it came to them, or that
    /// could not be removed then. To be called every few minutes.
    ///
    /// - Returns: how many it removed.
    package func sweepRemovals() async throws -> Int {
        try await removals.sweep()
    }

    /// Begins nothing any more that is not a request's own work: the process is to end soon, and the next one goes on.
    package func stopBackgroundWork() {
        stopRemovals()
        reconciler.stop()
    }

    private func stopRemovals() {
        discards.stop()
        removals.stop()
    }

    /// The static key of an id; whether a request that names it was signed with it is another question.
    package func staticKey(id: String) -> StaticKey? { staticKeys[id] }

    /// Memory to receive a body with.
    ///
    /// - Parameter length: nil = not known.
    /// - Throws: `outOfMemory` where the bodies under way have it all.
    func share(length: Int64?) throws(ObjectStoreError) -> BlockThreads.Share {
        if let share = threads.share(length: length) { return share }
        throw .outOfMemory
    }

    /// Memory for a document of a Complete, and for the list that is read of it.
    ///
    /// - Parameter length: nil = not known.
    /// - Throws: `outOfMemory` where the bodies under way have it all.
    package func documentShare(length: Int64?) throws(ObjectStoreError) -> BlockThreads.Share {
        let length = min(length ?? .max, Int64(CompletionList.maximumBytes))
        if let share = threads.documentShare(length: length) { return share }
        throw .outOfMemory
    }

    /// What takes a body into `sink`; see ``BodyPipeline``.
    func pipeline(
        _ checks: BodyChecks, into sink: (any BodySink)?, share: BlockThreads.Share? = nil,
        permit: @escaping BodyPipeline.Permit = { try $0() }
    ) -> BodyPipeline {
        BodyPipeline(checks, into: sink, threads: threads, share: share) { [space] write in
            try space.requireForBody()
            try permit(write)
        }
    }

    /// Where the bytes of a finished object are. The file never changes; once open it can be read to its end, whatever
    /// becomes of the object.
    package func path(of object: StoredObject) -> String {
        data.path(of: object.fileID)
    }

    /// A URL to read one object with, for `lifetime` at most; Range is allowed with it.
    ///
    /// - Parameters:
    ///   - claims: their operations are narrowed to reading; the URL dies with them.
    ///   - download: what the answer calls the object and its type; `nil` = as it was stored.
    package func presignedGet(
        _ claims: CredentialClaims, at endpoint: StoreEndpoint, lifetime: Duration, as download: DownloadName? = nil
    ) throws -> PresignedRequest {
        try presigned("GET", .read, claims, at: endpoint, lifetime: lifetime, parameters: download?.parameters ?? [])
    }

    /// A URL to put one object with, whole; otherwise as ``presignedGet(_:at:lifetime:)``.
    package func presignedPut(
        _ claims: CredentialClaims, at endpoint: StoreEndpoint, lifetime: Duration
    ) throws -> PresignedRequest {
        try presigned("PUT", .write, claims, at: endpoint, lifetime: lifetime)
    }

    private func presigned(
        _ method: String, _ operations: CredentialClaims.Operations, _ claims: CredentialClaims,
        at endpoint: StoreEndpoint, lifetime: Duration, parameters: [(name: String, value: String)] = []
    ) throws -> PresignedRequest {
        let now = clock.now()
        let lifetime = min(lifetime, .seconds(claims.expiresAt.seconds - now.seconds))
        let narrowed = CredentialClaims(
            uploadID: claims.uploadID, bucket: claims.bucket, key: claims.key, operations: operations,
            expiresAt: now.adding(lifetime), subject: claims.subject)
        return try PresignedRequest(
            method: method, bucket: claims.bucket, key: claims.key, parameters: parameters,
            credentials: issuer.issue(narrowed), endpoint: endpoint, at: now, lifetime: lifetime)
    }

    /// Opens the bytes of a finished object.
    ///
    /// - Throws: `StorageFailure.missing` where the file is gone, or has another size.
    package func open(_ object: StoredObject) throws -> any StoredBytes {
        let file = try engine.open(object.fileID)
        guard try file.size() == object.size else { throw StorageFailure.missing }
        return file
    }

    /// A finished object and its bytes.
    ///
    /// - Throws: `noSuchObject`.
    func object(_ claims: CredentialClaims) throws -> StoredObject {
        let found = try database.readBlocking { try StoreRecords($0).object(bucket: claims.bucket, key: claims.key) }
        guard let found, found.uploadID == claims.uploadID else { throw ObjectStoreError.noSuchObject }
        return found
    }

    /// Runs `body` with a finished object; again, with the one that is there now, where another request replaced the object
    /// meanwhile, so that its file was gone.
    ///
    /// - Throws: `noSuchObject`, and what `body` throws.
    package func withObject<T>(_ claims: CredentialClaims, _ body: (StoredObject) throws -> T) throws -> T {
        var object = try object(claims)
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
