import Database

/// A stream of object positions in the order of the list, newest first.
protocol PositionStream: AnyObject {
    /// Returns the next position below the given one. Calls have descending arguments; an argument may be repeated.
    func next(below position: Int64) throws -> PositionStep
}

/// The next position of a stream.
enum PositionStep {
    /// The highest position below the given one.
    case found(Int64)
    case end
    /// No position from `below` on; lower ones were not examined because the budget is spent.
    case unknown(below: Int64)
}

/// Positions from `lowest` to `highest`; empty if `lowest` is above `highest`.
struct PositionBounds: Equatable {
    static let all = PositionBounds(lowest: .min, highest: .max - 1)
    static let none = PositionBounds(lowest: .max, highest: 0)

    var lowest: Int64
    var highest: Int64

    func intersection(_ other: PositionBounds) -> PositionBounds {
        PositionBounds(lowest: max(lowest, other.lowest), highest: min(highest, other.highest))
    }

    func hull(_ other: PositionBounds) -> PositionBounds {
        PositionBounds(lowest: min(lowest, other.lowest), highest: max(highest, other.highest))
    }
}

/// The positions in an index for fixed values of its first columns, read in batches.
///
/// A server is asked for more at once than a file, because a further round trip costs more than the rows. The budget is spent as if they
/// were read from a file.
final class IndexStream: PositionStream {
    private static let firstBatch = 32
    /// The batch size after a jump, because another jump is likely to follow.
    private static let batchAfterJump = 4
    private static let longestBatch = 256
    /// The number of positions that a server is asked for at once, and that it is asked about.
    private static let (batchOnServer, questions) = (256, 128)

    let connection: ReadConnection
    private let budget: SearchBudget
    private let table: String
    private let conditions: [String]
    let sql: String
    let arguments: [(any Bindable)?]
    private var batch = firstBatch
    /// The current batch, in descending order.
    private var positions: [Int64] = []
    private var index = 0
    /// Whether the index has nothing below the last of `positions`.
    private var isComplete = false
    /// The average distance of two positions; 0 = none were read.
    private var gap: Int64 = 0
    /// The position from which on the stream has said whether it has the positions of another one; lower ones were not read.
    private var end = Int64.max

    /// - Parameter conditions: conditions on columns of `table`; their parameters are `$1` and so on, in the order of `arguments`.
    init(
        _ table: String, where conditions: [String], _ arguments: [any Bindable], connection: ReadConnection,
        budget: SearchBudget
    ) {
        self.connection = connection
        self.budget = budget
        self.arguments = arguments
        self.table = table
        self.conditions = conditions
        sql = Self.sql(table, conditions + ["position < $\(arguments.count + 1)"], limit: arguments.count + 2)
    }

    /// - Parameter limit: the number of the parameter.
    private static func sql(_ table: String, _ conditions: [String], limit: Int) -> String {
        """
        SELECT position FROM \(table) WHERE \(conditions.joined(separator: " AND "))
        ORDER BY position DESC LIMIT $\(limit)
        """
    }

    func next(below position: Int64) throws -> PositionStep {
        skip(to: position)
        if index < positions.count { return .found(positions[index]) }
        if isComplete { return .end }
        if !positions.isEmpty {
            batch = positions.last == position ? min(batch * 2, Self.longestBatch) : Self.batchAfterJump
        }
        try read(below: min(position, end))
        return positions.first.map(PositionStep.found) ?? .end
    }

    /// The number of positions in the next batch.
    private var wanted: Int { connection.isOnServer ? max(batch, Self.batchOnServer) : batch }

    /// Returns the next batch.
    private func batch(below position: Int64) throws -> [Int64] {
        try connection.query(sql, arguments: arguments + [position, wanted]) { $0.int64("position") }
    }

    private func read(below position: Int64) throws {
        let positions = try batch(below: position)
        isComplete = positions.count < wanted
        if let first = positions.first, let last = positions.last { gap = (first - last) / Int64(positions.count) }
        budget.spend(entries: min(positions.count, batch))
        replace(positions, end: .max)
    }

    private func replace(_ positions: [Int64], end: Int64) {
        self.positions = positions
        self.end = end
        index = 0
    }

    /// Moves to the first position of the batch below `position`.
    private func skip(to position: Int64) {
        if index < positions.count, positions[index] < position { return }
        var (low, high) = (index, positions.count)
        while low < high {
            let middle = (low + high) / 2
            if positions[middle] < position { high = middle } else { low = middle + 1 }
        }
        index = low
    }
}

/// The union of streams.
final class UnionStream: PositionStream {
    let streams: [any PositionStream]

    init(_ streams: [any PositionStream]) {
        self.streams = streams
    }

    func next(below position: Int64) throws -> PositionStep {
        var (found, unknown): (Int64?, Int64?)
        for stream in streams {
            switch try stream.next(below: position) {
            case .found(let next): found = max(found ?? next, next)
            case .unknown(let below): unknown = max(unknown ?? below, below)
            case .end: break
            }
        }
        // A stream that stopped above another one's next position may have a position in between.
        if let unknown, unknown > found ?? .min { return .unknown(below: unknown) }
        return found.map(PositionStep.found) ?? .end
    }
}

/// A server is asked about the positions of the rarest index together.
extension IndexStream {
    /// Reads the first batches of streams, in one message.
    static func begin(_ streams: [IndexStream], below position: Int64) throws {
        guard let connection = streams.first?.connection else { return }
        try connection.together { for stream in streams { _ = try stream.batch(below: position) } }
        for stream in streams { try stream.read(below: position) }
    }

    /// Prepares for ``next(below:)``, whose result matters only if all the other streams have it: finds out which of the next positions of
    /// the rarest of them this stream has, if it would have to read and has more positions than that one.
    func prepare(below position: Int64, others: [IndexStream]) throws {
        skip(to: position)
        guard index == positions.count, !isComplete else { return }
        guard let rarest = others.max(by: { $0.gap < $1.gap }), rarest.gap > gap, gap > 0 else { return }
        var below = min(position, end)
        while index == positions.count {
            rarest.skip(to: below)
            let candidates = rarest.positions[rarest.index...].prefix(Self.questions)
            guard candidates.count > 1, let last = candidates.last else { return }
            let list = ParameterList.padded(Array(candidates), to: [8, 32, Self.questions])
            let condition = "position IN (\(ParameterList.text(list.count, from: arguments.count + 1)))"
            let sql = Self.sql(table, conditions + [condition], limit: arguments.count + list.count + 1)
            replace(
                try connection.query(sql, arguments: arguments + list + [list.count]) { $0.int64("position") },
                end: last)
            // Each costs as much as a jump to it.
            for _ in candidates { budget.spend(entries: Self.batchAfterJump) }
            below = last
        }
    }
}

/// The intersection of streams.
///
/// Each stream is asked for its next position from the lowest position of the others on, so the work is proportional to the rarest
/// stream.
final class IntersectionStream: PositionStream {
    let streams: [any PositionStream]
    private let budget: SearchBudget
    /// The streams of indexes on a server.
    private let indexes: [IndexStream]
    private var hasBegun: Bool

    init(_ streams: [any PositionStream], budget: SearchBudget) {
        self.streams = streams
        self.budget = budget
        let isOnServer = streams.contains { ($0 as? IndexStream)?.connection.isOnServer == true }
        indexes = isOnServer ? streams.compactMap { $0 as? IndexStream } : []
        hasBegun = indexes.isEmpty
    }

    func next(below position: Int64) throws -> PositionStep {
        if !hasBegun { try IndexStream.begin(indexes, below: position) }
        hasBegun = true
        var below = position
        while true {
            var lowest = below - 1
            var agreeing = 0
            for stream in streams {
                if !indexes.isEmpty, let stream = stream as? IndexStream {
                    try stream.prepare(below: lowest + 1, others: indexes)
                }
                switch try stream.next(below: lowest + 1) {
                case .found(let next):
                    agreeing = next == lowest ? agreeing + 1 : 1
                    lowest = next
                case .unknown(let below): return .unknown(below: below)
                case .end: return .end
                }
            }
            if agreeing == streams.count { return .found(lowest) }
            below = lowest + 1
            // After at least one round over all streams, so that each page of a list makes some progress.
            if budget.isSpent { return .unknown(below: below) }
        }
    }
}

/// The positions of a stream within bounds.
final class BoundedStream: PositionStream {
    let stream: any PositionStream
    private let bounds: PositionBounds

    init(_ stream: any PositionStream, _ bounds: PositionBounds) {
        self.stream = stream
        self.bounds = bounds
    }

    func next(below position: Int64) throws -> PositionStep {
        let below = min(position, bounds.highest + 1)
        guard below > bounds.lowest else { return .end }
        switch try stream.next(below: below) {
        case .found(let next): return next < bounds.lowest ? .end : .found(next)
        case .unknown(let below): return below <= bounds.lowest ? .end : .unknown(below: below)
        case .end: return .end
        }
    }
}
