import Database

/// The positions of an organization's objects whose names have some keys, from the segments of the index of names.
///
/// In each segment the rarest key is read first, by its size in the segment before; the others are read while more than one position
/// is left. Each row that is read counts in the budget.
final class SegmentStream: PositionStream {
    private let records: NameIndexRecords<ReadConnection>
    private let organizationID: Int64
    private let budget: SearchBudget
    /// The positions whose names are in segments.
    private let range: Range<Int64>
    /// The keys, those that few names have first, with the size of their rows in bytes.
    private var keys: [(text: String, bytes: Int)]
    /// Whether the sizes of the keys are known.
    private var isSorted = false
    /// The segment whose positions are read; `nil` = none yet.
    private var segment: Int64?
    /// The offsets in the segment, ascending; those from `count` on were passed.
    private var offsets: [UInt16] = []
    private var count = 0

    init(
        _ keys: Set<NameKey>, organizationID: Int64, range: Range<Int64>, connection: ReadConnection,
        budget: SearchBudget
    ) {
        self.keys = keys.map { (text: $0.text, bytes: 0) }
        self.organizationID = organizationID
        self.range = range
        self.budget = budget
        records = NameIndexRecords(connection)
    }

    func next(below position: Int64) throws -> PositionStep {
        var below = min(position, range.upperBound)
        while below > range.lowerBound {
            let wanted = (below - 1) / SegmentPositions.span
            if segment == nil || segment ?? 0 > wanted { try read(wanted) }
            guard let segment else { return .end }
            let first = segment * SegmentPositions.span
            while count > 0, first + Int64(offsets[count - 1]) >= below { count -= 1 }
            if count > 0 {
                let found = first + Int64(offsets[count - 1])
                return found < range.lowerBound ? .end : .found(found)
            }
            below = min(below, first)
            if budget.isSpent { return below > range.lowerBound ? .unknown(below: below) : .end }
        }
        return .end
    }

    /// Reads the positions in a segment that have all keys.
    private func read(_ number: Int64) throws {
        segment = number
        offsets = []
        if !isSorted { try sort(number) }
        for index in keys.indices {
            budget.spend(rows: 1)
            let stored = try records.positions(
                keys[index].text, in: NameSegment(organizationID: organizationID, number: number))
            keys[index].bytes = stored?.count ?? 0
            guard let stored else {
                offsets = []
                break
            }
            offsets = index == 0 ? SegmentPositions.decode(stored) : SegmentPositions.intersection(offsets, stored)
            if offsets.count <= 1 { break }
        }
        count = offsets.count
        keys.sort { $0.bytes < $1.bytes }
    }

    /// Sorts the keys by their sizes in a segment.
    private func sort(_ number: Int64) throws {
        isSorted = true
        guard keys.count > 1 else { return }
        budget.spend(rows: keys.count)
        let sizes = try records.sizes(
            of: keys.map(\.text), in: NameSegment(organizationID: organizationID, number: number))
        for index in keys.indices { keys[index].bytes = sizes[keys[index].text] ?? 0 }
        keys.sort { $0.bytes < $1.bytes }
    }
}

/// Streams of ranges of positions, the highest first.
final class RangesStream: PositionStream {
    private let streams: [any PositionStream]
    private var current = 0

    /// - Parameter streams: no position of one is below a position of a later one.
    init(_ streams: [any PositionStream]) {
        self.streams = streams
    }

    func next(below position: Int64) throws -> PositionStep {
        while current < streams.count {
            switch try streams[current].next(below: position) {
            case .end: current += 1
            case let step: return step
            }
        }
        return .end
    }
}
