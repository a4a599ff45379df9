/// Which objects a caller asks for: all of the terms hold.
struct ObjectFilter: Sendable, Hashable {
    enum Term: Sendable, Hashable {
        /// Everything that is listed is verified, so the term says nothing more.
        case isVerified
        case tag(key: String, value: String)
        case device(String)
        case site(Int64)
        case objectID(String)
        /// In bytes.
        case size(Interval)
        /// In microseconds since 1970.
        case created(Interval)
    }

    /// Whole numbers from `lower` on and below `upper`; `nil` = no bound on that side.
    struct Interval: Sendable, Hashable {
        var lower: Int64?
        var upper: Int64?
    }

    /// How a term compares. `:` and `=` are the same.
    enum Comparison: Sendable, Hashable {
        case equal, less, lessOrEqual, greater, greaterOrEqual

        /// What compares so with a value that stands for everything from `first` on and below `next`.
        func interval(first: Int64, next: Int64) -> Interval {
            switch self {
            case .equal: Interval(lower: first, upper: next)
            case .less: Interval(upper: first)
            case .lessOrEqual: Interval(upper: next)
            case .greater: Interval(lower: next)
            case .greaterOrEqual: Interval(lower: first)
            }
        }
    }

    let terms: [Term]
}

/// The first byte of a filter that breaks its grammar, and what was expected there.
struct FilterError: Error, Sendable, Hashable, CustomStringConvertible {
    /// In bytes of UTF-8, counted from 0.
    let position: Int
    let reason: String

    var description: String { "byte \(position): \(reason)" }
}
