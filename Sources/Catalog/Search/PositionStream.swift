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
