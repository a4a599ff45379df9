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
final class IndexStream: PositionStream {
    private static let firstBatch = 32
    /// The batch size after a jump, because another jump is likely to follow.
    private static let batchAfterJump = 4
    private static let longestBatch = 256

    private let connection: ReadConnection
    private let budget: SearchBudget
    let sql: String
    let arguments: [(any Bindable)?]
    private var batch = firstBatch
    /// The current batch, in descending order.
    private var positions: [Int64] = []
    private var index = 0
    /// Whether the index has nothing below the last of `positions`.
    private var isComplete = false

    /// - Parameter conditions: conditions on columns of `table`; their parameters are `$1` and so on, in the order of `arguments`.
    init(
        _ table: String, where conditions: [String], _ arguments: [any Bindable], connection: ReadConnection,
        budget: SearchBudget
    ) {
        self.connection = connection
        self.budget = budget
        self.arguments = arguments
        let conditions = conditions + ["position < $\(arguments.count + 1)"]
        sql = """
            SELECT position FROM \(table) WHERE \(conditions.joined(separator: " AND "))
            ORDER BY position DESC LIMIT $\(arguments.count + 2)
            """
    }

    func next(below position: Int64) throws -> PositionStep {
        skip(to: position)
        if index < positions.count { return .found(positions[index]) }
        if isComplete { return .end }
        if !positions.isEmpty {
            batch = positions.last == position ? min(batch * 2, Self.longestBatch) : Self.batchAfterJump
        }
        positions = try connection.query(sql, arguments: arguments + [position, batch]) { $0.int64("position") }
        index = 0
        isComplete = positions.count < batch
        budget.spend(entries: positions.count)
        return positions.first.map(PositionStep.found) ?? .end
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

/// The intersection of streams.
///
/// Each stream is asked for its next position from the lowest position of the others on, so the work is proportional to the rarest
/// stream.
final class IntersectionStream: PositionStream {
    let streams: [any PositionStream]
    private let budget: SearchBudget

    init(_ streams: [any PositionStream], budget: SearchBudget) {
        self.streams = streams
        self.budget = budget
    }

    func next(below position: Int64) throws -> PositionStep {
        var below = position
        while true {
            var lowest = below - 1
            var agreeing = 0
            for stream in streams {
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
