import Database
import ObjectStore
import StoreClient

/// The removal of data files and of segments, by as few requests as possible: first the keys, then the rows, so that a removal that was
/// interrupted is repeated.
struct SegmentRemoval {
    /// The segments of a file that are being removed.
    private struct Rows {
        let layoutID: String
        let lastNumber: Int
    }

    private let bucket: SegmentBucket
    private let database: Database
    private let open: OpenSegments
    /// The segments of the next request.
    private var segmentIDs: [String] = []
    /// The rows of those segments.
    private var rows: [Rows] = []
    /// The files that have no segments once the next request has succeeded.
    private var files: [String] = []
    /// The segments without a file among ``segmentIDs``.
    private var alone: [String] = []
    private var removed: [String] = []

    init(_ bucket: SegmentBucket, _ database: Database, _ open: OpenSegments) {
        self.bucket = bucket
        self.database = database
        self.open = open
    }

    /// Adds a file, or a segment that belongs to none.
    mutating func add(_ id: String) throws {
        let found = try database.readBlocking { connection -> (layoutID: String, isShared: Bool)? in
            let records = StoreRecords(connection)
            return try records.layout(of: id).map { ($0, try records.isShared(layout: $0)) }
        }
        guard let (layoutID, isShared) = found else { return try addSegment(id) }
        if isShared, try forget(id, ifShared: layoutID) { return removed.append(id) }
        try addFile(id, layoutID)
    }

    /// Removes what was added.
    ///
    /// - Returns: the files and segments that were removed; the others are being read.
    mutating func finish() throws -> [String] {
        try flush()
        return removed
    }

    private mutating func addSegment(_ id: String) throws {
        guard open.beginRemoval(of: [id]) else { return }
        segmentIDs.append(id)
        alone.append(id)
        try flushIfFull()
    }

    private mutating func addFile(_ id: String, _ layoutID: String) throws {
        var number = 0
        while true {
            let limit = S3Client.maximumDeletions - 1 - segmentIDs.count - files.count
            let page = try database.readBlocking { [number] in
                try StoreRecords($0).segments(of: layoutID, after: number, limit: limit)
            }
            let ids = page.map(\.segment.id)
            guard open.beginRemoval(of: ids) else { return }
            segmentIDs += ids
            if let last = page.last {
                rows.append(Rows(layoutID: layoutID, lastNumber: last.number))
                number = last.number
            }
            guard page.count == limit else {
                files.append(id)
                return try flushIfFull()
            }
            try flush()
        }
    }

    /// Removes a file whose bytes another one has, too.
    private func forget(_ id: String, ifShared layoutID: String) throws -> Bool {
        try database.writeBlocking(mayUseReserve: true) { connection in
            let records = StoreRecords(connection)
            guard try records.isShared(layout: layoutID) else { return false }
            try records.forgetFile(id)
            return true
        }
    }

    private mutating func flushIfFull() throws {
        if segmentIDs.count + files.count >= S3Client.maximumDeletions - 1 { try flush() }
    }

    private mutating func flush() throws {
        defer {
            open.endRemoval(of: segmentIDs)
            (segmentIDs, rows, files, alone) = ([], [], [], [])
        }
        let keys = segmentIDs.map(bucket.key) + files.map(bucket.factsKey)
        guard !keys.isEmpty else { return }
        guard try bucket.remove(keys).isEmpty else {
            throw StorageFailure.engine("the object engine removed not all keys")
        }
        try database.writeBlocking(mayUseReserve: true) { [rows, files] connection in
            let records = StoreRecords(connection)
            for row in rows { try records.dropSegments(through: row.lastNumber, of: row.layoutID) }
            for file in files { try records.forgetFile(file) }
        }
        removed += files + alone
    }
}
