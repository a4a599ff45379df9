import Basics

/// Reads the filter of ListObjects:
///
///     filter = [ term *( SP+ [ "AND" SP+ ] term ) ]
///     term   = name op value
///
/// A name is `status`, `raw_tags.KEY`, `device`, `site`, `object_id`, `size` or `created`; KEY runs to the operator, or is
/// quoted. A value is bare (no space, no quote), or in double quotes with `\"` and `\\`.
struct FilterParser {
    static let maximumBytes = 4096
    static let maximumTerms = 16

    private let bytes: [UInt8]
    private var position = 0

    /// - Throws: `FilterError` at the first byte that does not fit.
    static func parse(_ text: String) throws(FilterError) -> ObjectFilter {
        var parser = FilterParser(text)
        return ObjectFilter(terms: try parser.terms())
    }

    private init(_ text: String) {
        bytes = Array(text.utf8)
    }

    private mutating func terms() throws(FilterError) -> [ObjectFilter.Term] {
        guard bytes.count <= Self.maximumBytes else {
            throw FilterError(
                position: Self.maximumBytes, reason: "a filter can have at most \(Self.maximumBytes) bytes")
        }
        if let control = bytes.firstIndex(where: { $0 < 0x20 || $0 == 0x7F }) {
            throw FilterError(position: control, reason: "control characters are not allowed")
        }
        if bytes.isEmpty { return [] }
        var terms = [try term()]
        while position < bytes.count {
            skipSpaces()
            if bytes[position...].starts(with: "AND ".utf8) {
                position += 3
                skipSpaces()
            }
            guard terms.count < Self.maximumTerms else {
                throw failure("a filter can have at most \(Self.maximumTerms) terms")
            }
            terms.append(try term())
        }
        return terms
    }

    private mutating func term() throws(FilterError) -> ObjectFilter.Term {
        let start = position
        switch name() {
        case "status":
            try equality()
            let (value, at) = try value()
            guard value == "verified" else {
                throw FilterError(position: at, reason: "\"status\" only accepts \"verified\"")
            }
            return .isVerified
        case "raw_tags":
            let key = try tagKey()
            try equality()
            return .tag(key: key, value: try value().text)
        case "device":
            try equality()
            return .device(try value().text)
        case "object_id":
            try equality()
            return .objectID(try value().text)
        case "site":
            try equality()
            return .site(try number("expected the number of a site"))
        case "size":
            let comparison = try comparison()
            let size = try number("expected a size in bytes such as 1048576")
            return .size(comparison.interval(first: size, next: size + 1))
        case "created":
            let comparison = try comparison()
            let (value, at) = try value()
            guard let time = RFC3339.parse(value) else {
                throw FilterError(position: at, reason: "expected a time such as 2026-01-31T08:00:00Z")
            }
            // Times are shown in whole seconds: an object is of every instant of its second.
            return .created(comparison.interval(first: time.roundedUp.microseconds, next: time.nextSecond.microseconds))
        default:
            throw FilterError(
                position: start,
                reason: "expected a term with status, raw_tags.KEY, device, site, object_id, size or created "
                    + "(OR, NOT and parentheses are not supported)")
        }
    }

    private mutating func name() -> String {
        let start = position
        while let byte, byte == UInt8(ascii: "_") || (UInt8(ascii: "a")...UInt8(ascii: "z")).contains(byte | 0x20) {
            position += 1
        }
        return text(start..<position)
    }

    private mutating func tagKey() throws(FilterError) -> String {
        guard byte == UInt8(ascii: ".") else { throw failure("expected a dot and a key after raw_tags") }
        position += 1
        let start = position
        let key: String
        if byte == UInt8(ascii: "\"") {
            key = try quoted()
        } else {
            while let byte, !":=<>".utf8.contains(byte) {
                guard byte != UInt8(ascii: " "), byte != UInt8(ascii: "\"") else {
                    throw failure("a key that contains a space or a quote must be in double quotes")
                }
                position += 1
            }
            key = text(start..<position)
        }
        guard !key.isEmpty else { throw FilterError(position: start, reason: "expected the key of a tag") }
        return key
    }

    private mutating func comparison() throws(FilterError) -> ObjectFilter.Comparison {
        let first = byte
        let isOrEqual = position + 1 < bytes.count && bytes[position + 1] == UInt8(ascii: "=")
        let comparison: ObjectFilter.Comparison
        switch first {
        case UInt8(ascii: ":"), UInt8(ascii: "="):
            position += 1
            return .equal
        case UInt8(ascii: "<"): comparison = isOrEqual ? .lessOrEqual : .less
        case UInt8(ascii: ">"): comparison = isOrEqual ? .greaterOrEqual : .greater
        default: throw failure("expected one of the operators : = < <= > >=")
        }
        position += isOrEqual ? 2 : 1
        return comparison
    }

    private mutating func equality() throws(FilterError) {
        let start = position
        guard try comparison() == .equal else {
            throw FilterError(position: start, reason: "expected : or = (only size and created can be ordered)")
        }
    }

    private mutating func number(_ reason: String) throws(FilterError) -> Int64 {
        let (value, at) = try value()
        // Below the largest, so that the number after it is one as well.
        guard value.utf8.allSatisfy((UInt8(ascii: "0")...UInt8(ascii: "9")).contains), let number = Int64(value),
            number < .max
        else { throw FilterError(position: at, reason: reason) }
        return number
    }

    /// The value and where it began; what follows it is a space or the end.
    private mutating func value() throws(FilterError) -> (text: String, position: Int) {
        let start = position
        if byte == UInt8(ascii: "\"") {
            let value = try quoted()
            guard byte == nil || byte == UInt8(ascii: " ") else {
                throw failure("expected a space after the quoted value")
            }
            return (value, start)
        }
        while let byte, byte != UInt8(ascii: " ") {
            guard byte != UInt8(ascii: "\"") else {
                throw failure("a value that contains a quote must be in double quotes")
            }
            position += 1
        }
        guard position > start else { throw failure("expected a value") }
        return (text(start..<position), start)
    }

    private mutating func quoted() throws(FilterError) -> String {
        let start = position
        var content: [UInt8] = []
        position += 1
        while let byte {
            position += 1
            switch byte {
            case UInt8(ascii: "\""): return String(decoding: content, as: UTF8.self)
            case UInt8(ascii: "\\"):
                guard let escaped = self.byte, escaped == UInt8(ascii: "\"") || escaped == UInt8(ascii: "\\") else {
                    throw failure("expected a quote or a backslash after the backslash")
                }
                content.append(escaped)
                position += 1
            default: content.append(byte)
            }
        }
        throw FilterError(position: start, reason: "the closing quote is missing")
    }

    private mutating func skipSpaces() {
        while byte == UInt8(ascii: " ") { position += 1 }
    }

    private var byte: UInt8? {
        position < bytes.count ? bytes[position] : nil
    }

    private func text(_ range: Range<Int>) -> String {
        String(decoding: bytes[range], as: UTF8.self)
    }

    private func failure(_ reason: String) -> FilterError {
        FilterError(position: position, reason: reason)
    }
}
