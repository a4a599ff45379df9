import Basics

extension ResolvedFilter {
    /// One condition on an object, by which it matches or not at all times.
    package enum Term: Sendable, Hashable {
        /// Matches every object, since all listed objects are verified.
        case isVerified
        case tag(key: String, value: String)
        case device(ObjectFilter.Pattern)
        case site(Int64)
        case objectID(String)
        /// The size in bytes.
        case size(ObjectFilter.Interval)
        /// The creation in microseconds since 1970.
        case created(ObjectFilter.Interval)
        /// The time of the first and the last message of a recording, in microseconds since 1970.
        case recordedFrom(ObjectFilter.Interval)
        case recordedTo(ObjectFilter.Interval)
        /// A topic of a recording.
        case topic(ObjectFilter.Pattern)
        /// The name in lower case.
        case name(ObjectFilter.Pattern)
        case contentType(ObjectFilter.Pattern)
        /// The path below the folder that was uploaded.
        case path(ObjectFilter.Pattern)
        /// A word in lower case: a part of the name, or the beginning of the device or of the value of a tag. Below three characters
        /// it is a part of the name at a border, see ``NameParts``.
        case word(String)
        /// A text in lower case with which the name, the device or the value of a tag begins.
        case begins(String)
        case trashed(Bool)
    }
}

extension ObjectFilter {
    /// One condition on an object.
    package enum Term: Sendable, Hashable {
        case steady(ResolvedFilter.Term)
        /// The whole seconds since the creation.
        case age(Interval)
    }

    /// A text that has to be equal, or the beginning, the end or any part of one.
    package enum Pattern: Sendable, Hashable {
        case text(String)
        case prefix(String)
        case suffix(String)
        case part(String)

        package func matches(_ text: String) -> Bool {
            switch self {
            case .text(let expected): text.isExactly(expected)
            case .prefix(let prefix): text.utf8.starts(with: prefix.utf8)
            case .suffix(let suffix): text.utf8.suffix(suffix.utf8.count).elementsEqual(suffix.utf8)
            case .part(let part): Self.contains(text.utf8, part.utf8)
            }
        }

        private static func contains(_ text: String.UTF8View, _ part: String.UTF8View) -> Bool {
            guard let first = part.first else { return true }
            var rest = text[...]
            while rest.count >= part.count, let start = rest.firstIndex(of: first) {
                rest = rest[start...]
                if rest.starts(with: part) { return true }
                rest.removeFirst()
            }
            return false
        }

        /// The pattern with its characters in lower case.
        var lowercased: Pattern {
            switch self {
            case .text(let text): .text(text.lowercasedByScalar)
            case .prefix(let prefix): .prefix(prefix.lowercasedByScalar)
            case .suffix(let suffix): .suffix(suffix.lowercasedByScalar)
            case .part(let part): .part(part.lowercasedByScalar)
            }
        }
    }

    /// Whole numbers from `lower` up to but not including `upper`; `nil` = no bound on that side.
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

    /// The comparison operator of a term. `:` and `=` are the same.
    enum Comparison: Sendable, Hashable {
        case equal, less, lessOrEqual, greater, greaterOrEqual

        /// Returns the numbers that satisfy the comparison with a value that stands for the range from `first` up to but not
        /// including `next`.
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
