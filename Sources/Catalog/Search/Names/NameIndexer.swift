import Basics
import Database
import ObjectFilters

/// Writes the index of names in the background: those of new objects once there are enough of them, and then, newest first, those of
/// objects from before the index. It also removes segments all of whose objects were deleted.
///
/// Each transaction is small and is followed by a pause of the same length for other writes. The range of indexed positions grows
/// with the last transaction of a batch; a restart repeats a batch, which changes nothing that is already written.
struct NameIndexer: Sendable {
    /// The number of new positions from which on they are indexed. Searches compare fewer names one by one.
    static let fewest: Int64 = 256
    /// The number of names in one read, and of reads for one batch.
    private static let (names, reads) = (1024, 4)
    /// The number of rows in one transaction.
    private static let rows = 64
    /// The pause if there is nothing to do.
    private static let idleInterval = Duration.seconds(2)
    /// The shortest pause between two transactions.
    private static let shortestPause = Duration.milliseconds(1)
    /// The pause after a failure.
    private static let retryDelay = Duration.seconds(60)

    let database: Database
    let log: Logger
    /// Sleeps; throws if the task is cancelled.
    var sleep: @Sendable (Duration) async throws -> Void = { try await Task.sleep(for: $0) }

    /// Returns when its task is cancelled.
    func run() async {
        var checked = NameSegment.start
        while !Task.isCancelled {
            do {
                if try await indexBatch() { continue }
                checked = try await removeSegment(after: checked)
                try await sleep(Self.idleInterval)
            } catch is CancellationError {
                return
            } catch {
                log.write("cannot write the index of names", ["error": "\(error)"], level: .error)
                try? await sleep(Self.retryDelay)
            }
        }
    }

    /// Indexes the next names.
    ///
    /// - Returns: whether there were any.
    func indexBatch() async throws -> Bool {
        guard var batch = try await database.readInBackground({ try NameBatch($0, limit: Self.names) }) else {
            return false
        }
        for _ in 1..<Self.reads where batch.isFull {
            batch = try await database.readInBackground { [batch] connection in
                var batch = batch
                try batch.add(connection, limit: Self.names)
                return batch
            }
        }
        for (segment, rows) in batch.segments {
            for start in stride(from: 0, to: rows.count, by: Self.rows) {
                let some = rows[start..<min(start + Self.rows, rows.count)]
                try await write { connection in
                    try NameIndexRecords(connection).add(some, to: segment)
                }
            }
        }
        try await write { [range = batch.range] in try NameIndexRecords($0).setRange(range) }
        return true
    }

    /// Removes the next segment if none of its objects exists.
    ///
    /// - Returns: the segment that was examined.
    func removeSegment(after segment: NameSegment) async throws -> NameSegment {
        let (next, isEmpty) = try await database.readInBackground { connection -> (NameSegment?, Bool) in
            let records = NameIndexRecords(connection)
            guard let next = try records.segment(after: segment) else { return (nil, false) }
            let isComplete = try (next.number + 1) * SegmentPositions.span <= records.range().upperBound
            return (next, try isComplete && !records.hasObjects(next))
        }
        guard let next else { return .start }
        var removed = isEmpty ? Self.rows : 0
        while removed == Self.rows {
            removed = try await write { try NameIndexRecords($0).remove(next, limit: Self.rows) }
        }
        return next
    }

    /// Writes, and pauses for as long as that took.
    private func write<T: Sendable>(_ body: @escaping @Sendable (Connection) throws -> T) async throws -> T {
        let clock = ContinuousClock()
        let start = clock.now
        let result = try await database.write { try body($0) }
        try await sleep(max(clock.now - start, Self.shortestPause))
        return result
    }
}

/// Names that are about to be indexed, as rows of segments.
private struct NameBatch: Sendable {
    private struct Place: Hashable {
        let segment: NameSegment
        let key: NameKey
    }

    /// The indexed positions with this batch.
    private(set) var range: Range<Int64>
    /// Whether a read found as many names as it may.
    private(set) var isFull = false
    private let isAscending: Bool
    private var offsets: [Place: [UInt16]] = [:]

    /// Reads the first names of a batch; `nil` = there is nothing to index.
    init?(_ connection: ReadConnection, limit: Int) throws {
        range = try NameIndexRecords(connection).range()
        let end = try ObjectOperationRecords(connection).endOfObjects()
        isAscending = end - range.upperBound >= NameIndexer.fewest
        guard isAscending || range.lowerBound > 0 else { return nil }
        try add(connection, limit: limit)
    }

    /// Adds further names.
    mutating func add(_ connection: ReadConnection, limit: Int) throws {
        let records = NameIndexRecords(connection)
        let names =
            isAscending
            ? try records.names(from: range.upperBound, limit: limit)
            : try records.names(below: range.lowerBound, limit: limit)
        isFull = names.count == limit
        for name in names { add(name) }
        if let last = names.last {
            range = isAscending ? range.lowerBound..<last.position + 1 : last.position..<range.upperBound
        }
        if !isAscending, !isFull { range = 0..<range.upperBound }
    }

    private mutating func add(_ name: UnindexedName) {
        let segment = NameSegment(
            organizationID: name.organizationID, number: name.position / SegmentPositions.span)
        let offset = UInt16(name.position % SegmentPositions.span)
        NameKey.forEach(in: name.text) { key in
            let place = Place(segment: segment, key: key)
            if offsets[place]?.last != offset { offsets[place, default: []].append(offset) }
        }
    }

    /// The rows of each segment, in the order of the table.
    var segments: [(segment: NameSegment, rows: NameRows)] {
        var segments: [NameSegment: NameRows] = [:]
        for (place, offsets) in offsets {
            segments[place.segment, default: []].append(
                (place.key.text, isAscending ? offsets : offsets.reversed()))
        }
        return segments.map { segment, rows in
            (segment, rows.sorted { $0.key.utf8.lexicographicallyPrecedes($1.key.utf8) })
        }
    }
}
