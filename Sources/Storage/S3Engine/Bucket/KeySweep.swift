import Basics
import Database
import ObjectStore
import StoreClient

/// The meaning of a segment that no row refers to.
enum SegmentVerdict: Equatable {
    /// Another program, or another gateway, wrote it.
    case foreign
    /// Its upload is in progress.
    case inProgress
    /// Its upload has ended, and got no object.
    case ended
    /// It may be the bytes of an object.
    case uncertain
}

/// Decides about segments that no row refers to.
///
/// A database that is older than the bucket may lack any row, also that of a completed object. So a segment is of no use only if the
/// database knows that its upload has ended without an object; what it does not know may be all that is left of an object.
struct SegmentJudge: Sendable {
    let storeID: String
    let register: UploadRegister

    /// - Parameter label: `nil` = the object has no metadata of this engine.
    func judge(_ label: SegmentLabel?, _ connection: ReadConnection) throws -> SegmentVerdict {
        guard let label, label.storeID == storeID else { return .foreign }
        let records = StoreRecords(connection)
        if try DirectObject.isDirect(uploadID: label.uploadID) || records.hasObject(uploadID: label.uploadID) {
            return .uncertain
        }
        switch try label.part.flatMap({ try records.isCompleted(multipart: $0.multipartID) }) {
        case true?: return .uncertain
        case false?: return .inProgress
        case nil: break
        }
        return switch try register.state(label.uploadID, connection) {
        case .inProgress: .inProgress
        case .ended: .ended
        case .completed, nil: .uncertain
        }
    }
}

/// A segment that no row refers to.
struct UnreferredSegment {
    let id: String
    /// The size in bytes.
    let size: Int64
    /// `nil` = the object has no metadata of this engine.
    let label: SegmentLabel?
    /// The younger of the time in its metadata and that of the bucket.
    let writtenAt: UnixTime?

    init(_ id: String, _ listed: S3Listed, _ description: S3Description) {
        self.id = id
        size = listed.size
        label = SegmentLabel(description.metadata)
        writtenAt = [label?.writtenAt, listed.modifiedAt].compactMap { $0 }.max()
    }
}

/// The removal of segments that no row refers to, page by page in bounded memory.
///
/// Keys are listed first, and rows are read after that: a segment without a row then has no commit, unless this process is making it.
struct KeySweep {
    struct Result: Equatable {
        var removed = 0
        /// The segments that were put into quarantine.
        var quarantined = 0
    }

    let bucket: SegmentBucket
    let database: Database
    let judge: SegmentJudge
    let clock: any WallClock
    /// Returns the segments of this process without a row.
    let pending: () -> Set<String>
    /// Whether the store confirms now that this process has the prefix.
    let confirm: () throws -> Bool

    /// - Parameters:
    ///   - isOrphan: returns whether a segment is old enough, by the time of its last write.
    ///   - goOn: called for each segment; throws to stop.
    func run(isOrphan: (UnixTime) throws -> Bool, goOn: () throws -> Void) throws -> Result {
        var result = Result()
        var first = ""
        try bucket.forEachPage(of: SegmentBucket.data) { page, last in
            try goOn()
            try leaveQuarantine(after: first, through: last, present: Set(page.map(\.id)))
            first = last ?? first
            var ended: [String] = []
            for segment in try unreferred(page, isOrphan, goOn) {
                switch try database.readBlocking({ [judge] in try judge.judge(segment.label, $0) }) {
                case .foreign, .inProgress: break
                case .ended: ended.append(segment.id)
                case .uncertain: if try quarantine(segment) { result.quarantined += 1 }
                }
            }
            result.removed += try remove(ended)
        }
        return result
    }

    /// Returns the segments of a page that are old, and to which no row refers.
    private func unreferred(
        _ page: [(id: String, object: S3Listed)], _ isOrphan: (UnixTime) throws -> Bool, _ goOn: () throws -> Void
    ) throws -> [UnreferredSegment] {
        let pending = pending()
        let old = try page.filter { try !pending.contains($0.id) && $0.object.modifiedAt.map(isOrphan) ?? true }
        let ids = old.map(\.id)
        let known = try database.readBlocking { connection in
            let records = StoreRecords(connection)
            let quarantined = try ids.first.map { first in
                // The one before the first, too, which changes nothing.
                try records.quarantinedIDs(after: String(first.dropLast()), through: ids.last)
            }
            return try records.referredSegments(among: ids).union(quarantined ?? [])
        }
        return try old.filter { !known.contains($0.id) }.compactMap { id, object in
            try goOn()
            guard let description = try bucket.head(id) else { return nil }
            let segment = UnreferredSegment(id, object, description)
            return try segment.writtenAt.map(isOrphan) ?? false ? segment : nil
        }
    }

    private func remove(_ segmentIDs: [String]) throws -> Int {
        guard !segmentIDs.isEmpty else { return 0 }
        guard try confirm() else {
            throw StorageFailure.engine("the gateway may have lost the prefix of its bucket")
        }
        try Lease.current?.requireBatch()
        return segmentIDs.count - (try bucket.remove(segmentIDs.map(bucket.key)).count)
    }

    private func quarantine(_ segment: UnreferredSegment) throws -> Bool {
        guard let label = segment.label else { return false }
        let row = QuarantinedSegment(
            segment.id, size: segment.size, label.place, part: label.part, writtenAt: label.writtenAt)
        return try database.writeBlocking(mayUseReserve: true) { [now = clock.now()] in
            try StoreRecords($0).quarantine(row, at: now)
        }
    }

    /// Takes segments from quarantine that were removed, or that have a row again.
    private func leaveQuarantine(after first: String, through last: String?, present: Set<String>) throws {
        let ids = try database.readBlocking { connection in
            let records = StoreRecords(connection)
            let quarantined = try records.quarantinedIDs(after: first, through: last)
            let referred = try records.referredSegments(among: Array(quarantined.prefix(S3Client.maximumDeletions)))
            return quarantined.filter { !present.contains($0) || referred.contains($0) }
        }
        guard !ids.isEmpty else { return }
        try database.writeBlocking(mayUseReserve: true) { connection in
            for id in ids { try StoreRecords(connection).leaveQuarantine(id) }
        }
    }
}
