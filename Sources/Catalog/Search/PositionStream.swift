/// Positions of objects in the order of the list, newest first.
protocol PositionStream: AnyObject {
    /// The next one below a position. Positions are asked for in descending order; the same one may be asked for again.
    func next(below position: Int64) throws -> PositionStep
}

/// What a stream has below a position.
enum PositionStep {
    /// The highest one.
    case found(Int64)
    case end
    /// Nothing from `below` on; what is further down was not looked at, as the budget is spent.
    case unknown(below: Int64)
}

/// Positions from `lowest` to `highest`; none where `lowest` is above `highest`.
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
