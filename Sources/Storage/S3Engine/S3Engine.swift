package import Basics
import Crypto
package import Database
package import ObjectStore
package import StoreClient
import Synchronization

/// Data files in a bucket of an S3 store, which other programs leave alone.
///
/// A data file is a list of segments, each an object of the bucket at `data/<2 hex>/<segment id>` that is written once. A PUT makes one
/// segment; a part of a multipart upload is one at the place of its number, so that Complete moves no bytes. Rows say which segments a
/// file has: no byte is valid without one, and the metadata of each key (``SegmentLabel``) says what it is without them. Files with the
/// same bytes share a layout, so that a copy is a row.
package final class S3Engine: ObjectEngine {
    let bucket: SegmentBucket
    let spool: Spool
    let clock: any WallClock
    let owner: PrefixOwner?
    let pending = Lock<[String: PendingFile]>([:])
    let open: OpenSegments
    private let started = Lock<Started?>(nil)
    /// The longest time between the beginning of a segment of which more follow, or of those of one file, and their commit.
    private static let longestStoring = Duration.days(1)
    private let register = Lock(UploadRegister.none)
    /// Removes segments that got no row.
    private let abandoning = Worker.serial("store.segments")

    /// - Parameters:
    ///   - report: of the examination of the bucket.
    ///   - owner: the right to the prefix; `nil` = nobody else uses the bucket.
    ///   - spoolFolder: exists.
    package init(
        _ configuration: S3EngineConfiguration, _ report: BucketReport, credentials: any CredentialSource,
        owner: PrefixOwner?, spoolFolder: String, clock: any WallClock
    ) {
        self.owner = owner
        bucket = SegmentBucket(configuration, report, credentials: credentials, clock: clock)
        spool = Spool(spoolFolder, limit: configuration.spool.bytes)
        open = OpenSegments(longestReading: configuration.removalDelay)
        self.clock = clock
    }

    package func freeBytes() -> Int64? { nil }
    package func sizeBytes() -> Int64? { nil }

    /// Sets the records that decide about keys without rows. Called before the store is opened.
    package func use(_ register: UploadRegister) { self.register.withLock { $0 = register } }

    /// Whether the bucket and the database belong together; before the start they do not.
    package var state: BucketState { started.withLock { $0?.upkeep.bucketState } ?? .comparing }

    /// Records the position of the database in the bucket, if that is due. Called every ``recordInterval``.
    package func recordPosition() async throws { try await upkeep.record() }

    /// The time between two records of the position.
    package static var recordInterval: Duration { BucketUpkeep.recordInterval }

    /// The surroundings of the engine from its start on.
    private struct Started {
        let start: EngineStart
        let upkeep: BucketUpkeep
        let merging: SegmentMerging
    }

    // MARK: New files

    package func create(_ purpose: FilePurpose, length: Int64?) throws -> NewFile {
        let file = add(.body(purpose, storeID: try storeID))
        return NewFile(file.id, SegmentSink(file, in: bucket, spool, length: length), in: self)
    }

    package func createMultipart() -> NewFile { newFile(.multipart) }

    package func hasPlaces(_ fileID: String) -> Bool { false }

    package func duplicate(_ fileID: String) -> NewFile { newFile(.duplicate(of: fileID)) }

    package func receivePart(at position: Int64, of fileID: String) throws -> any BodySink {
        preconditionFailure("no part has a place before its commit")
    }

    package func complete(_ fileID: String, _ parts: [EnginePart]) {
        started.withLock { $0?.merging }?.complete(fileID, parts)
    }

    package func record(_ fileID: String, _ content: FileContent?, in transaction: Connection) throws {
        try requireOwnership()
        try noteChange(in: transaction)
        let records = StoreRecords(transaction)
        let file = try pendingFile(fileID)
        switch file.origin {
        case .multipart: try records.addFile(fileID, layout: fileID)
        case .duplicate(let other):
            guard try records.addFile(fileID, sameAs: other) else { throw StorageFailure.missing }
        case .body, .extension:
            guard let content, let segmentID = file.segmentID else { throw StorageFailure.missing }
            try records.addFile(fileID, layout: fileID)
            _ = try records.setSegment(1, of: fileID, to: Segment(segmentID, content))
        }
    }

    package func place(_ part: EnginePart, in fileID: String, _ transaction: Connection) throws -> [String]? {
        try requireOwnership()
        try noteChange(in: transaction)
        guard let segmentID = try part.fileID.flatMap({ try pendingFile($0).segmentID }) else {
            throw StorageFailure.missing
        }
        let replaced = try StoreRecords(transaction).setSegment(
            part.number, of: fileID, to: Segment(segmentID, part.content))
        return replaced.map { [$0] } ?? []
    }

    package func dropParts(
        _ numbers: [Int], from fileID: String, in transaction: Connection
    ) throws -> [String] {
        try noteChange(in: transaction)
        let records = StoreRecords(transaction)
        return try numbers.compactMap { try records.dropSegment($0, of: fileID) }
    }

    package func resolve(_ fileID: String) {
        guard let file = pending.withLock({ $0.removeValue(forKey: fileID) }) else { return }
        file.endReservations()
        removeLater(file.failedSegments)
    }

    package func keep(_ fileID: String) {}

    package func seal(_ fileID: String) { started.withLock { $0?.merging }?.begin(fileID) }

    // MARK: Reading

    package func open(_ fileID: String) throws -> any StoredBytes {
        let database = try database
        let (segments, reading) = try open.read {
            let segments = try database.readBlocking { connection in
                let records = StoreRecords(connection)
                return try records.layout(of: fileID).map { try records.segments(of: $0).map(\.segment) }
            }
            guard let segments else { throw StorageFailure.missing }
            return segments
        }
        return SegmentedBytes(segments, in: bucket, reading)
    }

    package func openToExamine(_ fileID: String) throws -> any StoredBytes { try open(fileID) }

    // MARK: Removals

    /// Removes the segments of a new file in the background.
    package func remove(_ fileID: String) {
        guard let file = pending.withLock({ $0[fileID] }) else { return }
        removeLater(file.begunSegments)
    }

    package func removeDurably(_ fileIDs: [String]) throws -> [String] {
        let (upkeep, hasReplicas) = (try upkeep, try atWork.start.hasReplicas)
        guard upkeep.permitsRemovals else { return [] }
        if let owner, try !BlockingCall.run({ await owner.confirm() }) { return [] }
        defer { upkeep.noteChange() }
        var removal = SegmentRemoval(bucket, try database, open, hasReplicas: hasReplicas)
        for fileID in fileIDs { try removal.add(fileID) }
        return try removal.finish()
    }

    /// Another gateway may have taken the prefix over while this process was stopped: nothing is acknowledged then.
    func requireOwnership() throws {
        guard let owner, owner.ownership != .held else { return }
        throw StorageFailure.engine("the gateway may have lost the prefix of its bucket")
    }

    /// Removes segments that may be in the bucket without a row. What cannot be removed is found when keys and rows are compared.
    private func removeLater(_ segmentIDs: [String]) {
        guard !segmentIDs.isEmpty else { return }
        abandoning.post { [bucket] in _ = try? bucket.remove(segmentIDs.map(bucket.key)) }
    }

    // MARK: Facts

    package func hasFacts(of fileID: String) throws -> Bool { try bucket.hasFacts(of: fileID) }

    package func writeFacts(_ facts: [UInt8], of fileID: String) throws {
        let segments = try database.readBlocking { connection in
            let records = StoreRecords(connection)
            return try records.layout(of: fileID).map { try records.segments(of: $0) }
        }
        guard let segments else { throw StorageFailure.missing }
        try bucket.write(FactsDocument(facts, segments.map { NumberedSegment($0.number, $0.segment) }), of: fileID)
        try upkeep.noteChange()
    }

    package func synchronizeFacts(of fileID: String) {}

    package func facts(of fileID: String) -> [UInt8]? { try? bucket.facts(of: fileID).facts }

    // MARK: Start

    package func start(_ start: EngineStart) throws -> any EngineUpkeep {
        let context = UpkeepContext(
            bucket: bucket, database: start.database, owner: owner, hasReplicas: start.hasReplicas,
            register: register.withLock { $0 }, clock: clock
        ) { [weak self] in
            self?.pendingSegments ?? []
        }
        let merging = SegmentMerging(self, start.database)
        let upkeep = try BucketUpkeep(context, merging, abandoning)
        started.withLock { $0 = Started(start: start, upkeep: upkeep, merging: merging) }
        if upkeep.permitsRemovals { merging.resume() }
        return upkeep
    }

    private var pendingSegments: Set<String> {
        let files = pending.withLock { Array($0.values) }
        return Set(files.flatMap(\.begunSegments))
    }

    /// Notes a change of which the bucket has to be told, once it is on disk.
    func noteChange(in transaction: Connection) throws {
        let upkeep = try upkeep
        transaction.afterCommit { upkeep.noteChange() }
    }

    var database: Database {
        get throws { try atWork.start.database }
    }

    var upkeep: BucketUpkeep {
        get throws { try atWork.upkeep }
    }

    /// The time for which no other gateway removes a segment that is being stored; `nil` without other gateways.
    var reservedUntil: UnixTime? {
        get throws { try atWork.start.hasReplicas ? clock.now().adding(Self.longestStoring) : nil }
    }

    func scheduleRemoval(of fileID: String, in transaction: Connection) throws {
        try atWork.start.scheduleRemoval([fileID], transaction)
    }

    var factsWriter: FactsWriter {
        get throws { try atWork.start.factsWriter }
    }

    private var atWork: Started {
        get throws {
            guard let started = started.withLock({ $0 }) else { throw StorageFailure.missing }
            return started
        }
    }

    var storeID: String { get throws { try upkeep.storeID } }

    func pendingFile(_ fileID: String) throws -> PendingFile {
        guard let file = pending.withLock({ $0[fileID] }) else { throw StorageFailure.missing }
        return file
    }

    private func newFile(_ origin: PendingFile.Origin) -> NewFile { NewFile(add(origin).id, in: self) }

    func add(_ origin: PendingFile.Origin) -> PendingFile {
        let file = PendingFile(Random.hex(16), origin, clock: clock)
        pending.withLock { $0[file.id] = file }
        return file
    }
}
