extension ObjectFilter {
    /// One condition on an object.
    package enum Term: Sendable, Hashable {
        /// Everything that is listed is verified, so that the term changes nothing.
        case isVerified
        case tag(key: String, value: String)
        case device(Pattern)
        case site(Int64)
        case objectID(String)
        /// The size in bytes.
        case size(Interval)
        /// The creation in microseconds since 1970.
        case created(Interval)
        /// The whole seconds since the creation.
        case age(Interval)
        /// The name in lower case.
        case name(Pattern)
        case contentType(Pattern)
        /// A word in lower case with which the name, the device or the value of a tag begins.
        case word(String)
        case trashed(Bool)
    }

    /// A text that equals another one, or begins with it.
    package enum Pattern: Sendable, Hashable {
        case text(String)
        case prefix(String)

        package func matches(_ text: String) -> Bool {
            switch self {
            case .text(let expected): text.utf8.elementsEqual(expected.utf8)
            case .prefix(let prefix): text.utf8.starts(with: prefix.utf8)
            }
        }
    }

    /// Whole numbers from `lower` on and below `upper`; `nil` = no bound on that side.
    package struct Interval: Sendable, Hashable {
        package var lower: Int64?
        package var upper: Int64?

        package init(lower: Int64? = nil, upper: Int64? = nil) {
            self.lower = lower
            self.upper = upper
        }

        package func contains(_ number: Int64) -> Bool {
            number >= lower ?? .min && upper.map { number < $0 } ?? true
        }
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
}
