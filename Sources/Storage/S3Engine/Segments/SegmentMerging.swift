import Basics
import Crypto
import Database
import ObjectStore
import Synchronization

/// Stores objects of many small parts again as few large segments, in the background: a download of them would need a request for each
/// part. Their ETags and the sizes of their parts stay.
final class SegmentMerging: Sendable {
    /// The average size of segments in bytes below which they are merged. Also in the index of `store_segments`.
    static let small: Int64 = 8 << 20

    private struct State {
        /// The files of uploads that are being completed, with small parts.
        var completing: Set<String> = []
        var isStopped = false
        /// Whether an object could not be merged, and all are to be looked at again.
        var hasFailed = false
    }

    /// It owns this.
    private weak let engine: S3Engine?
    private let database: Database
    private let worker = Worker.serial("store.merging")
    private let state = Lock(State())

    init(_ engine: S3Engine, _ database: Database) {
        self.engine = engine
        self.database = database
    }

    /// Notes the parts of an upload that is being completed.
    func complete(_ fileID: String, _ parts: [EnginePart]) {
        let size = parts.reduce(0) { $0 + $1.size }
        guard Self.isWorthwhile(parts.count, size) else { return }
        _ = state.withLock { $0.completing.insert(fileID) }
    }

    /// Begins with the file of an upload that has been completed.
    func begin(_ fileID: String) {
        let (isSmall, hasFailed) = state.withLock { state in
            let isSmall = state.completing.remove(fileID) != nil
            defer { if isSmall { state.hasFailed = false } }
            return (isSmall, state.hasFailed)
        }
        guard isSmall else { return }
        if hasFailed { return resume() }
        worker.post { [self] in merge(fileID) }
    }

    /// Looks for objects that an earlier process did not merge.
    func resume() {
        worker.post { [self] in
            var last = ""
            while goesOn {
                let some = try? database.readBlocking { [last] in
                    try StoreRecords($0).smallFiles(after: last, limit: 100)
                }
                guard let some, let end = some.last else { return }
                for file in some where goesOn { merge(file.fileID) }
                last = end.layoutID
            }
        }
    }

    func stop() { state.withLock { $0.isStopped = true } }

    func drain() { worker.drain() }

    private var goesOn: Bool { state.withLock { !$0.isStopped } }

    private static func isWorthwhile(_ count: Int, _ size: Int64) -> Bool {
        count > 1 && size / Int64(count) < small
    }

    private func merge(_ fileID: String) {
        guard goesOn, let engine else { return }
        do {
            // What the bucket has beyond the database may need the segments of now.
            guard engine.state == .matching else { throw StorageFailure.engine("the bucket is being compared") }
            // Two gateways would store the segments of an object twice.
            let isMerged: Void? = try database.leases.holdingBlocking("merging") {
                try engine.merge(fileID, if: Self.isWorthwhile) { goesOn }
            }
            if isMerged == nil { state.withLock { $0.hasFailed = true } }
        } catch {
            state.withLock { $0.hasFailed = true }
        }
    }
}

extension S3Engine {
    /// Stores an object as a new layout, unless it was deleted.
    fileprivate func merge(
        _ fileID: String, if isWorthwhile: (_ count: Int, _ size: Int64) -> Bool, while goesOn: () -> Bool
    ) throws {
        let database = try database
        let found = try database.readBlocking { connection -> (CopiedObject, String)? in
            let records = StoreRecords(connection)
            guard let layoutID = try records.layout(of: fileID), let object = try records.copiedObject(fileID) else {
                return nil
            }
            return try isWorthwhile(records.segments(of: layoutID).count, object.file.size) ? (object, layoutID) : nil
        }
        guard let (object, earlier) = found, !object.isDamaged else { return }
        let layout = try makeLayout(of: object.file, at: object.place)
        try layout.store(open(fileID), isDamaged: false, while: goesOn)
        try factsWriter.alone(with: fileID) {
            // Before the commit: if this process ends in between, the next one merges the segments again.
            if let facts = facts(of: fileID) { try writeFacts(facts, of: fileID, layout) }
            try database.writeBlocking(mayUseReserve: true) { [self] connection in
                try replace(earlier, of: fileID, by: layout, in: connection)
            }
        }
    }

    private func replace(
        _ earlier: String, of fileID: String, by layout: LayoutWriter, in connection: Connection
    ) throws {
        try requireOwnership()
        let records = StoreRecords(connection)
        // Copies have the layout, too; it is one that does not change, because the upload is completed.
        guard try records.layout(of: fileID) == earlier, try !records.isRemovalScheduled(fileID) else { return }
        let released = Random.hex(16)
        try records.moveFiles(of: earlier, to: layout.record(in: connection))
        try records.addFile(released, layout: earlier)
        try scheduleRemoval(of: released, in: connection)
        try noteChange(in: connection)
    }
}
