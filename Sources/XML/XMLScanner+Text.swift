import Basics

/// Text, attribute values, comments and references.
extension XMLScanner {
    /// Returns the offset of the first byte that is not UTF-8 or not part of a `Char` (XML 1.0, production 2).
    static func offsetOfInvalidText(_ bytes: [UInt8]) -> Int? {
        do throws(UTF8.ValidationError) {
            _ = try UTF8Span(validating: bytes.span)
        } catch {
            return error.byteOffsets.lowerBound
        }
        return bytes.indices.first { index in
            switch bytes[index] {
            case 0x20...0xEE, 0x09, 0x0A, 0x0D: false
            // U+FFFE and U+FFFF.
            case 0xEF: bytes[index + 1] == 0xBF && bytes[index + 2] >= 0xBE
            case 0xF0...: false
            default: true
            }
        }
    }

    // MARK: Text

    /// Reads text up to the next `<` or the end, resolves its references and converts its line ends to `
    /// ` (XML 1.0, 2.11).
    mutating func text() throws(XMLError) -> String {
        var text: [UInt8] = []
        var start = offset
        while let byte = peek(), byte != UInt8(ascii: "<") {
            switch byte {
            case UInt8(ascii: "&"):
                text += bytes[start..<offset]
                text += try reference().utf8
                start = offset
            case 0x0D:
                text += bytes[start..<offset]
                offset += 1
                if peek() != 0x0A { text.append(0x0A) }
                start = offset
            case UInt8(ascii: "]") where peek(1) == byte && peek(2) == UInt8(ascii: ">"):
                throw XMLError(.syntax, at: offset)
            default: offset += 1
            }
        }
        text += bytes[start..<offset]
        return String(decoding: text, as: UTF8.self)
    }

    /// Skips an attribute's value and its quotes.
    ///
    /// - Returns: the range of the value before escapes are resolved.
    mutating func attributeValue() throws(XMLError) -> Range<Int> {
        guard let quote = peek(), quote == UInt8(ascii: "\"") || quote == UInt8(ascii: "'") else {
            throw XMLError(.syntax, at: offset)
        }
        offset += 1
        let start = offset
        while let byte = peek(), byte != quote {
            guard offset - start < XMLLimits.valueBytes else { throw XMLError(.limitExceeded, at: start) }
            switch byte {
            case UInt8(ascii: "<"): throw XMLError(.syntax, at: offset)
            case UInt8(ascii: "&"): _ = try reference()
            default: offset += 1
            }
        }
        guard !isAtEnd else { throw XMLError(.syntax, at: offset) }
        defer { offset += 1 }
        return start..<offset
    }

    /// Skips the rest of a comment, after its `<!--`, without copying it.
    mutating func skipComment() throws(XMLError) {
        while !isAtEnd {
            if peek() == UInt8(ascii: "-"), skip("--") { return try require(">") }
            offset += 1
        }
        throw XMLError(.syntax, at: offset)
    }

    // MARK: References

    private mutating func reference() throws(XMLError) -> Character {
        let start = offset
        try require("&")
        if skip("#") { return try characterReference(from: start) }
        let name = try unprefixedName()
        try require(";")
        if isEqual(name, "amp") { return "&" }
        if isEqual(name, "lt") { return "<" }
        if isEqual(name, "gt") { return ">" }
        if isEqual(name, "quot") { return "\"" }
        if isEqual(name, "apos") { return "'" }
        throw XMLError(.unsupported, at: start)
    }

    private mutating func characterReference(from start: Int) throws(XMLError) -> Character {
        let radix: UInt32 = skip("x") ? 16 : 10
        let first = offset
        var value: UInt32 = 0
        while let byte = peek(), let digit = byte.hexDigitValue.map(UInt32.init), digit < radix {
            // Below 0x110000, so the multiplication cannot overflow.
            value = value * radix + digit
            guard value <= 0x10FFFF else { throw XMLError(.invalidText, at: start) }
            offset += 1
        }
        guard offset > first else { throw XMLError(.syntax, at: offset) }
        try require(";")
        guard let scalar = Unicode.Scalar(value), Self.isAllowed(scalar) else {
            throw XMLError(.invalidText, at: start)
        }
        return Character(scalar)
    }

    private static func isAllowed(_ scalar: Unicode.Scalar) -> Bool {
        switch scalar.value {
        case 0x09, 0x0A, 0x0D: true
        case 0..<0x20, 0xFFFE, 0xFFFF: false
        default: true
        }
    }
}
