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
    /// Whether other gateways may be storing a segment, so that its removal is begun in its row.
    private let hasReplicas: Bool
    /// The segments of the next request.
    private var segmentIDs: [String] = []
    /// The rows of those segments.
    private var rows: [Rows] = []
    /// The files that have no segments once the next request has succeeded.
    private var files: [String] = []
    /// The files without rows whose segments other files have: only their facts are to be removed.
    private var forgotten: [String] = []
    /// The segments without a file among ``segmentIDs``.
    private var alone: [String] = []
    private var removed: [String] = []

    init(_ bucket: SegmentBucket, _ database: Database, _ open: OpenSegments, hasReplicas: Bool) {
        self.hasReplicas = hasReplicas
        self.bucket = bucket
        self.database = database
        self.open = open
    }

    /// Adds a file, or a segment that belongs to none. An id of neither counts as removed: it was added before.
    mutating func add(_ id: String) throws {
        let (file, isUsed) = try database.readBlocking { connection in
            let records = StoreRecords(connection)
            let file = try records.layout(of: id).map { (layoutID: $0, isShared: try records.isShared(layout: $0)) }
            return (file, try records.isSegment(id))
        }
        guard let (layoutID, isShared) = file else {
            // A file and its first segment have the same id: a copy may have the segment of a file that was removed before.
            guard isUsed else { return try addSegment(id) }
            forgotten.append(id)
            return try flushIfFull()
        }
        if isShared, try forget(id, ifShared: layoutID) {
            forgotten.append(id)
            return try flushIfFull()
        }
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
        // In this order: a segment that is being stored may get a row until its removal has begun.
        guard try !database.readBlocking({ try StoreRecords($0).isSegment(id) }) else {
            open.endRemoval(of: [id])
            return removed.append(id)
        }
        segmentIDs.append(id)
        alone.append(id)
        try flushIfFull()
    }

    private mutating func addFile(_ id: String, _ layoutID: String) throws {
        var number = 0
        while true {
            let limit = S3Client.maximumDeletions - 1 - count
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

    /// The number of keys of the next request.
    private var count: Int { segmentIDs.count + files.count + forgotten.count }

    private mutating func flushIfFull() throws {
        if count >= S3Client.maximumDeletions - 1 { try flush() }
    }

    /// Records that the segments without a file are being removed, and leaves out those that have got a row at another gateway.
    private mutating func beginAlone() throws {
        let used = try database.writeBlocking(mayUseReserve: true) { [alone] connection in
            let records = StoreRecords(connection)
            return try Set(alone.filter { try !records.beginRemoval($0) && records.isSegment($0) })
        }
        guard !used.isEmpty else { return }
        open.endRemoval(of: Array(used))
        segmentIDs.removeAll(where: used.contains)
        alone.removeAll(where: used.contains)
        removed += used
    }

    private mutating func flush() throws {
        defer {
            open.endRemoval(of: segmentIDs)
            (segmentIDs, rows, files, forgotten, alone) = ([], [], [], [], [])
        }
        if hasReplicas, !alone.isEmpty { try beginAlone() }
        let keys = segmentIDs.map(bucket.key) + (files + forgotten).map(bucket.factsKey)
        guard !keys.isEmpty else { return }
        guard try bucket.remove(keys).isEmpty else {
            throw StorageFailure.engine("the object engine removed not all keys")
        }
        try database.writeBlocking(mayUseReserve: true) { [rows, files] connection in
            let records = StoreRecords(connection)
            for row in rows { try records.dropSegments(through: row.lastNumber, of: row.layoutID) }
            for file in files { try records.forgetFile(file) }
        }
        removed += files + forgotten + alone
    }
}
