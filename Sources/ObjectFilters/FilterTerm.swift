import Basics

extension ResolvedFilter {
    /// One condition on an object, by which it matches or not at all times.
    package enum Term: Sendable, Hashable {
        /// Matches every object, since all listed objects are verified.
        case isVerified
        case tag(key: String, value: String)
        /// The device; an empty text matches objects without one.
        case device(ObjectFilter.Pattern)
        case site(Int64)
        case objectID(String)
        /// The size in bytes.
        case size(ObjectFilter.Interval)
        /// The creation in microseconds since 1970.
        case created(ObjectFilter.Interval)
        /// The beginning of the recording, or of the upload if that is unknown, in microseconds since 1970.
        case recorded(ObjectFilter.Interval)
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
        /// A folder, by its path, that contains the object at any depth.
        case folder(String)
        /// A word in lower case: a part of the name, or the beginning of the device or of the value of a tag. Below three characters
        /// it is a part of the name at a border, see ``NameParts``.
        case word(String)
        /// A text in lower case with which the name, the device or the value of a tag begins.
        case begins(String)
        case trashed(Bool)
        /// One of some devices, by their ids, or of some sites: those whose display name has a word.
        case devices(Set<String>)
        case sites(Set<Int64>)
    }
}

extension ObjectFilter {
    /// One condition on an object.
    package enum Term: Sendable, Hashable {
        case steady(ResolvedFilter.Term)
        /// The whole seconds since the creation.
        case age(Interval)
        case days(TimeField, Comparison, Days)
    }

    /// A text that has to be equal, or the beginning, the end, any part or several parts of one.
    package enum Pattern: Sendable, Hashable {
        case text(String)
        case prefix(String)
        case suffix(String)
        case part(String)
        /// The texts before, between and after two or more stars, or a star between characters. The first and the last may be empty.
        case pieces([String])

        /// Makes the pattern of a text in which each `*` matches any characters; `nil` = there are no others.
        init?(_ text: String) {
            guard text.contains("*") else {
                self = .text(text)
                return
            }
            let (hasStart, hasEnd) = (text.first != "*", text.last != "*")
            let pieces = text.split(separator: "*").map(String.init)
            switch (pieces.count, hasStart, hasEnd) {
            case (0, _, _): return nil
            case (1, true, _): self = .prefix(pieces[0])
            case (1, false, true): self = .suffix(pieces[0])
            case (1, false, false): self = .part(pieces[0])
            default: self = .pieces((hasStart ? [] : [""]) + pieces + (hasEnd ? [] : [""]))
            }
        }

        package func matches(_ text: String) -> Bool {
            switch self {
            case .text(let expected): text.isExactly(expected)
            case .prefix(let prefix): text.utf8.starts(with: prefix.utf8)
            case .suffix(let suffix): text.utf8.suffix(suffix.utf8.count).elementsEqual(suffix.utf8)
            case .part(let part): Self.rest(after: part.utf8, in: text.utf8[...]) != nil
            case .pieces(let pieces): Self.has(pieces, text.utf8[...])
            }
        }

        private static func has(_ pieces: [String], _ text: Substring.UTF8View) -> Bool {
            guard let first = pieces.first, let last = pieces.last, text.starts(with: first.utf8) else { return false }
            var rest = text.dropFirst(first.utf8.count)
            for piece in pieces.dropFirst().dropLast() {
                guard let next = Self.rest(after: piece.utf8, in: rest) else { return false }
                rest = next
            }
            return rest.suffix(last.utf8.count).elementsEqual(last.utf8)
        }

        /// Returns the text after the first occurrence of a part; `nil` = it has none.
        private static func rest(after part: String.UTF8View, in text: Substring.UTF8View) -> Substring.UTF8View? {
            guard let first = part.first else { return text }
            var rest = text
            while rest.count >= part.count, let start = rest.firstIndex(of: first) {
                rest = rest[start...]
                if rest.starts(with: part) { return rest.dropFirst(part.count) }
                rest.removeFirst()
            }
            return nil
        }

        /// The pattern with its characters in lower case.
        var lowercased: Pattern {
            switch self {
            case .text(let text): .text(text.lowercasedByScalar)
            case .prefix(let prefix): .prefix(prefix.lowercasedByScalar)
            case .suffix(let suffix): .suffix(suffix.lowercasedByScalar)
            case .part(let part): .part(part.lowercasedByScalar)
            case .pieces(let pieces): .pieces(pieces.map(\.lowercasedByScalar))
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
    package enum Comparison: Sendable, Hashable {
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
