import Basics

/// A Range field (RFC 9110, section 14.1.2) with one range of bytes.
package enum ByteRange: Equatable {
    case bounded(first: Int64, last: Int64)
    case from(Int64)
    case suffix(Int64)

    /// Returns `nil` for anything that is not one range of bytes: such a field is ignored, and the whole object is sent.
    package init?(_ field: String) {
        guard let equals = field.firstIndex(of: "="), field[..<equals].lowercased() == "bytes" else { return nil }
        let bounds = field[field.index(after: equals)...].split(separator: "-", omittingEmptySubsequences: false)
        guard bounds.count == 2 else { return nil }
        let first = Self.number(bounds[0])
        let last = Self.number(bounds[1])
        switch (first, last) {
        case (let first?, let last?) where first <= last: self = .bounded(first: first, last: last)
        case (let first?, nil) where bounds[1].isEmpty: self = .from(first)
        case (nil, let last?) where bounds[0].isEmpty: self = .suffix(last)
        default: return nil
        }
    }

    /// Whether it is a suffix of at least one byte, which is satisfiable for an empty representation as well (RFC 9110, section
    /// 14.1.2), and then selects nothing.
    package var isSuffixOfBytes: Bool {
        if case .suffix(let count) = self { count > 0 } else { false }
    }

    /// Returns the range within `size` bytes; `nil` if it selects none of them.
    package func resolved(in size: Int64) -> Range<Int64>? {
        switch self {
        case .bounded(let first, let last): first < size ? first..<min(size - 1, last) + 1 : nil
        case .from(let first): first < size ? first..<size : nil
        case .suffix(let count): count > 0 && size > 0 ? max(0, size - count)..<size : nil
        }
    }

    private static func number(_ digits: Substring) -> Int64? {
        guard !digits.isEmpty, digits.utf8.allSatisfy(\.isASCIIDigit) else { return nil }
        // Numbers past the ends of all objects are valid, and so is the number behind each of them.
        return min(Int64(digits) ?? .max, .max - 1)
    }
}
