import Basics

/// A tokenizer for JSON (RFC 8259), strict unless its rules permit more.
package struct JSONScanner {
    let text: [UInt8]
    let rules: JSONRules
    package internal(set) var offset = 0
    /// The offset of the name that ``nextMember(_:)`` returned last.
    private(set) var nameOffset = 0
    private var depthLeft: Int

    package init(_ text: [UInt8], _ rules: JSONRules = .json) {
        self.text = text
        self.rules = rules
        depthLeft = rules.maximumDepth
    }

    package func error(_ reason: JSONError.Reason, field: String? = nil) -> JSONError {
        JSONError(reason, at: offset, field: field)
    }

    /// - Parameter start: the offset of what is wrong; `nil` = where the scanner is.
    func error(
        _ problem: String, _ reason: JSONError.Reason = .syntax, at start: Int? = nil, field: String? = nil
    ) -> JSONError {
        // Complete comments are skipped, so one that is in the place of a token has no end.
        let problem =
            rules.isJSON5 && text[min(offset, text.count)...].starts(with: "/*".utf8)
            ? "the end of the comment is missing" : problem
        return JSONError(reason, at: start ?? offset, field: field, problem: problem)
    }

    /// Returns the first byte of the next token; 0 at the end of the text.
    package mutating func peek() -> UInt8 {
        if rules.isJSON5 {
            skipBlanksAndComments()
        } else if rules.permitsBlanks {
            while offset < text.count {
                let byte = text[offset]
                guard byte == 0x20 || byte == 0x0A || byte == 0x0D || byte == 0x09 else { return byte }
                offset += 1
            }
        }
        return byte()
    }

    package mutating func next(is byte: Unicode.Scalar) -> Bool { peek() == UInt8(ascii: byte) }

    package mutating func take(_ byte: Unicode.Scalar) -> Bool {
        guard next(is: byte) else { return false }
        offset += 1
        return true
    }

    package mutating func expectEnd() throws(JSONError) {
        _ = peek()
        guard offset == text.count else { throw error("expected the end of the file after the value") }
    }

    /// Consumes a literal such as `null` if it comes next.
    package mutating func take(word: StaticString) -> Bool {
        _ = peek()
        let end = offset + word.utf8CodeUnitCount
        guard end <= text.count else { return false }
        let expected = UnsafeBufferPointer(start: word.utf8Start, count: word.utf8CodeUnitCount)
        guard text[offset..<end].elementsEqual(expected) else { return false }
        offset = end
        return true
    }

    // MARK: Structure

    package mutating func beginObject() throws(JSONError) { try begin("{") }

    /// Returns the name of the next member, whose value comes next; `nil` at the end of the object, which is consumed.
    package mutating func nextMember(_ isFirst: inout Bool) throws(JSONError) -> String? {
        guard try hasNext(&isFirst, closing: "}") else { return nil }
        _ = peek()
        nameOffset = offset
        let name = try rules.isJSON5 ? name() : string()
        guard take(":") else { throw error("expected a colon after \(name)") }
        return name
    }

    package mutating func beginArray() throws(JSONError) { try begin("[") }

    /// Returns whether an element comes next; consumes the end of the array.
    package mutating func nextElement(_ isFirst: inout Bool) throws(JSONError) -> Bool {
        try hasNext(&isFirst, closing: "]")
    }

    private mutating func begin(_ opening: Unicode.Scalar) throws(JSONError) {
        guard next(is: opening) else { throw error("expected \(opening)") }
        guard depthLeft > 0 else {
            throw error("the value is nested more than \(rules.maximumDepth) levels deep", .tooDeep)
        }
        depthLeft -= 1
        offset += 1
    }

    private mutating func hasNext(_ isFirst: inout Bool, closing: Unicode.Scalar) throws(JSONError) -> Bool {
        let mayEnd = isFirst || rules.isJSON5
        let hasComma = isFirst || take(",")
        isFirst = false
        if hasComma, !(mayEnd && next(is: closing)) { return true }
        guard take(closing) else { throw error("expected a comma or \(closing)") }
        depthLeft += 1
        return false
    }

    /// Skips one value of any kind.
    package mutating func skip() throws(JSONError) {
        var isFirst = true
        switch peek() {
        case UInt8(ascii: "{"):
            try beginObject()
            while try nextMember(&isFirst) != nil { try skip() }
        case UInt8(ascii: "["):
            try beginArray()
            while try nextElement(&isFirst) { try skip() }
        case let byte where isQuote(byte): _ = try string()
        default: _ = try word()
        }
    }

    // MARK: Values

    /// Whether a string begins with the byte.
    func isQuote(_ byte: UInt8) -> Bool {
        byte == UInt8(ascii: "\"") || rules.isJSON5 && byte == UInt8(ascii: "'")
    }

    /// Returns a number, or the value of one of the words `true`, `false` and `null`.
    package mutating func word() throws(JSONError) -> JSONValue {
        if rules.isJSON5 { return try wordOfJSON5() }
        switch peek() {
        case UInt8(ascii: "t"), UInt8(ascii: "f"): return .bool(try bool())
        case UInt8(ascii: "n"):
            guard take(word: "null") else { throw error("expected a value") }
            return .null
        default: return JSONValue(number: try number())
        }
    }

    package mutating func bool() throws(JSONError) -> Bool {
        if take(word: "true") { return true }
        guard take(word: "false") else { throw error("expected true or false", .invalidValue) }
        return false
    }

    /// Returns the text of a number in JSON's format.
    package mutating func number() throws(JSONError) -> Substring {
        _ = peek()
        let start = offset
        if byte() == UInt8(ascii: "-") { offset += 1 }
        if byte() == UInt8(ascii: "0") { offset += 1 } else { try digits() }
        if byte() == UInt8(ascii: ".") {
            offset += 1
            try digits()
        }
        if byte() | 0x20 == UInt8(ascii: "e") {
            offset += 1
            if byte() == UInt8(ascii: "+") || byte() == UInt8(ascii: "-") { offset += 1 }
            try digits()
        }
        return Substring(decoding: text[start..<offset], as: UTF8.self)
    }

    func byte() -> UInt8 { offset < text.count ? text[offset] : 0 }

    private mutating func digits() throws(JSONError) {
        let start = offset
        while byte().isASCIIDigit { offset += 1 }
        guard offset > start else { throw error("expected a value") }
    }

    package mutating func string() throws(JSONError) -> String {
        guard isQuote(peek()) else { throw error("expected a string in quotation marks") }
        let quote = byte()
        offset += 1
        let start = offset
        while offset < text.count, text[offset] != quote, text[offset] != UInt8(ascii: "\\") {
            if text[offset] < 0x20 { try checkControl(openedAt: start - 1) }
            offset += 1
        }
        var bytes = text[start..<offset]
        while byte() != quote {
            guard offset < text.count else { throw unclosed(openedAt: start - 1) }
            if take(unescaped: "\\") {
                try escape(into: &bytes)
            } else {
                if text[offset] < 0x20 { try checkControl(openedAt: start - 1) }
                bytes.append(text[offset])
                offset += 1
            }
        }
        offset += 1
        guard let string = String(validating: bytes, as: UTF8.self) else {
            throw error("the string is not valid UTF-8", .invalidText)
        }
        return string
    }

    /// Checks that the next byte of the text, a control character, may be in a string.
    private func checkControl(openedAt start: Int) throws(JSONError) {
        guard rules.isJSON5, text[offset] != 0x0A, text[offset] != 0x0D else { throw unclosed(openedAt: start) }
    }

    private func unclosed(openedAt start: Int) -> JSONError {
        // In JSON the character is wrong, in JSON5 the string has no end.
        JSONError(
            .syntax, at: rules.isJSON5 ? start : offset, problem: "the closing quotation mark is missing")
    }

    /// Consumes a byte if it comes next, without skipping blanks.
    mutating func take(unescaped byte: Unicode.Scalar) -> Bool {
        guard offset < text.count, text[offset] == UInt8(ascii: byte) else { return false }
        offset += 1
        return true
    }

    /// Reads an escape of a string, after the backslash.
    private mutating func escape(into bytes: inout ArraySlice<UInt8>) throws(JSONError) {
        let escape = byte()
        switch escape {
        case UInt8(ascii: "\""), UInt8(ascii: "\\"), UInt8(ascii: "/"): bytes.append(escape)
        case UInt8(ascii: "$") where rules.permitsEscapedDollar: bytes.append(escape)
        case UInt8(ascii: "b"): bytes.append(0x08)
        case UInt8(ascii: "f"): bytes.append(0x0C)
        case UInt8(ascii: "n"): bytes.append(0x0A)
        case UInt8(ascii: "r"): bytes.append(0x0D)
        case UInt8(ascii: "t"): bytes.append(0x09)
        case UInt8(ascii: "u"):
            offset += 1
            bytes += try escapedScalar().utf8
            return
        default:
            guard rules.isJSON5 else { throw error("the escape sequence is unknown") }
            try escapeOfJSON5(into: &bytes)
            return
        }
        offset += 1
    }

    /// Reads the four hexadecimal digits after `\u`, and those of the other half of a surrogate pair.
    private mutating func escapedScalar() throws(JSONError) -> String {
        let start = offset
        let unit = try hexadecimal(4)
        guard unit != 0 || rules.permitsNullCharacter else {
            throw error("a string must not contain the character U+0000", .invalidText, at: start)
        }
        if let scalar = Unicode.Scalar(unit) { return String(scalar) }
        guard unit < 0xDC00, take(unescaped: "\\"), take(unescaped: "u"), case let low = try hexadecimal(4),
            0xDC00...0xDFFF ~= low,
            let scalar = Unicode.Scalar(0x10000 + (UInt32(unit) - 0xD800) << 10 + (UInt32(low) - 0xDC00))
        else { throw error("the escape sequence is only one half of a surrogate pair", .invalidText, at: start) }
        return String(scalar)
    }

    /// Reads `count` hexadecimal digits.
    mutating func hexadecimal(_ count: Int) throws(JSONError) -> UInt16 {
        var unit: UInt16 = 0
        let digits = text[offset...].prefix(count)
        for digit in digits {
            guard let value = digit.hexDigitValue else { throw error("expected \(count) hexadecimal digits") }
            unit = unit << 4 | UInt16(value)
        }
        guard digits.count == count else { throw error("expected \(count) hexadecimal digits") }
        offset += count
        return unit
    }
}
