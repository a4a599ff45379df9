import Basics
package import Database
package import DirectoryEngine
package import ObjectStore
package import S3Engine
import Synchronization

/// A directory and a bucket, while the bytes of objects are copied from one to the other.
///
/// Rows say which of them has the bytes of a file: those in the bucket have segments. New objects and multipart uploads are made in the
/// target; the parts of an upload are stored where it began, and a copy of an object where the object is.
package final class PairedEngines: ObjectEngine {
    package let directory: DirectoryEngine
    package let bucket: S3Engine
    package let target: ObjectEngineKind
    private let started = Lock<(database: Database, copy: EngineCopy)?>(nil)

    package init(_ directory: DirectoryEngine, _ bucket: S3Engine, target: ObjectEngineKind) {
        self.directory = directory
        self.bucket = bucket
        self.target = target
    }

    /// The copy of objects to the target; `nil` before the store has started.
    package var copy: EngineCopy? { started.withLock { $0?.copy } }

    package func freeBytes() throws -> Int64? { try targetEngine.freeBytes() }
    package func sizeBytes() throws -> Int64? { try targetEngine.sizeBytes() }

    package func start(_ start: EngineStart) throws -> any EngineUpkeep {
        let upkeep = PairedUpkeep(
            directory: try directory.start(start), bucket: try bucket.start(start),
            copy: EngineCopy(self, start.database, start.factsWriter))
        started.withLock { $0 = (start.database, upkeep.copy) }
        if upkeep.condition != .foreign { try upkeep.copy.resume() }
        return upkeep
    }

    // MARK: New files

    package func create(_ purpose: FilePurpose, length: Int64?) throws -> NewFile {
        guard let part = purpose.part else { return try targetEngine.create(purpose, length: length) }
        return try engine(of: part.multipartFileID).create(purpose, length: length)
    }

    package func createMultipart() throws -> NewFile { try targetEngine.createMultipart() }

    package func hasPlaces(_ fileID: String) throws -> Bool { try engine(of: fileID).hasPlaces(fileID) }

    package func duplicate(_ fileID: String) throws -> NewFile {
        try withEngine(of: fileID) { try $0.duplicate(fileID) }
    }

    /// An object in the other engine is written to the target with all its bytes.
    package func extend(_ fileID: String, _ purpose: FilePurpose, length: Int64?) throws -> NewFile? {
        let engine = try engine(of: fileID)
        return engine === targetEngine ? try engine.extend(fileID, purpose, length: length) : nil
    }

    package func receivePart(at position: Int64, of fileID: String) throws -> any BodySink {
        try engine(of: fileID).receivePart(at: position, of: fileID)
    }

    package func complete(_ fileID: String, _ parts: [EnginePart]) throws {
        try engine(of: fileID).complete(fileID, parts)
    }

    package func record(_ fileID: String, _ content: FileContent?, in transaction: Connection) throws {
        try newFileEngine(fileID).record(fileID, content, in: transaction)
    }

    package func recordExtension(
        _ fileID: String, of other: String, _ content: FileContent, in transaction: Connection
    ) throws -> Bool {
        try newFileEngine(fileID).recordExtension(fileID, of: other, content, in: transaction)
    }

    package func place(_ part: EnginePart, in fileID: String, _ transaction: Connection) throws -> [String]? {
        try engine(of: fileID, in: transaction).place(part, in: fileID, transaction)
    }

    package func dropParts(
        _ numbers: [Int], from fileID: String, in transaction: Connection
    ) throws -> [String] {
        try engine(of: fileID, in: transaction).dropParts(numbers, from: fileID, in: transaction)
    }

    package func resolve(_ fileID: String) { newFileEngine(fileID).resolve(fileID) }

    package func keep(_ fileID: String) { directory.keep(fileID) }

    package func seal(_ fileID: String) { directory.seal(fileID) }

    package func remove(_ fileID: String) throws { try newFileEngine(fileID).remove(fileID) }

    // MARK: Files with rows

    package func open(_ fileID: String) throws -> any StoredBytes {
        try withEngine(of: fileID) { try $0.open(fileID) }
    }

    package func openToExamine(_ fileID: String) throws -> any StoredBytes {
        try withEngine(of: fileID) { try $0.openToExamine(fileID) }
    }

    /// Both engines remove the files: after a crash, one that was copied is in both.
    package func removeDurably(_ fileIDs: [String]) throws -> [String] {
        try directory.removeDurably(bucket.removeDurably(fileIDs))
    }

    package func hasFacts(of fileID: String) throws -> Bool { try engine(of: fileID).hasFacts(of: fileID) }

    package func writeFacts(_ facts: [UInt8], of fileID: String) throws {
        try engine(of: fileID).writeFacts(facts, of: fileID)
    }

    package func synchronizeFacts(of fileID: String) throws { try engine(of: fileID).synchronizeFacts(of: fileID) }

    package func facts(of fileID: String) -> [UInt8]? { try? engine(of: fileID).facts(of: fileID) }

    // MARK: The engine of a file

    private var targetEngine: any ObjectEngine { target == .s3 ? bucket : directory }

    private func newFileEngine(_ fileID: String) -> any ObjectEngine {
        bucket.isPending(fileID) ? bucket : directory
    }

    private func engine(of fileID: String) throws -> any ObjectEngine {
        guard let (database, _) = started.withLock({ $0 }) else { throw StorageFailure.missing }
        return try database.readBlocking { try engine(of: fileID, in: $0) }
    }

    private func engine(of fileID: String, in connection: some ReadConnection) throws -> any ObjectEngine {
        try StoreRecords(connection).layout(of: fileID) == nil ? directory : bucket
    }

    /// Runs `body` once more if the file was copied to the other engine meanwhile.
    private func withEngine<T>(of fileID: String, _ body: (any ObjectEngine) throws -> T) throws -> T {
        let first = try engine(of: fileID)
        do {
            return try body(first)
        } catch StorageFailure.missing {
            let second = try engine(of: fileID)
            guard second !== first else { throw StorageFailure.missing }
            return try body(second)
        }
    }
}

/// The work of both engines apart from requests. Only the directory's files need a comparison.
private final class PairedUpkeep: EngineUpkeep {
    let copy: EngineCopy
    private let directory: any EngineUpkeep
    private let bucket: any EngineUpkeep

    init(directory: any EngineUpkeep, bucket: any EngineUpkeep, copy: EngineCopy) {
        self.directory = directory
        self.bucket = bucket
        self.copy = copy
    }

    var condition: EngineCondition {
        switch (directory.condition, bucket.condition) {
        case (.foreign, _), (_, .foreign): .foreign
        case (.clean, .clean): .clean
        default: .unclean
        }
    }

    var reconciliation: StoreReconciliation {
        var found = directory.reconciliation
        found.add(bucket.reconciliation)
        return found
    }

    var foldersToReconcile: Int { directory.foldersToReconcile + bucket.foldersToReconcile }

    func finish() async {
        await directory.finish()
        await bucket.finish()
    }

    func sweep(_ isOrphan: @escaping @Sendable (_ writtenAt: UnixTime) throws -> Bool) -> Int {
        directory.sweep(isOrphan) + bucket.sweep(isOrphan)
    }

    func stop() {
        copy.stopThreads()
        directory.stop()
        bucket.stop()
    }

    func drain() {
        copy.drain()
        directory.drain()
        bucket.drain()
    }

    func recordCleanStop() {
        directory.recordCleanStop()
        bucket.recordCleanStop()
    }
}
