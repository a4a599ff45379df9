import Basics
import Protobuf

/// A strict tokenizer for JSON (RFC 8259).
package struct JSONScanner {
    private let text: [UInt8]
    package private(set) var offset = 0
    private var depthLeft = ProtobufReader.depthLimit

    package init(_ text: [UInt8]) {
        self.text = text
    }

    func error(_ reason: JSONError.Reason, field: String? = nil) -> JSONError {
        JSONError(reason, at: offset, field: field)
    }

    /// Returns the first byte of the next token; 0 at the end of the text.
    package mutating func peek() -> UInt8 {
        while offset < text.count {
            let byte = text[offset]
            guard byte == 0x20 || byte == 0x0A || byte == 0x0D || byte == 0x09 else { return byte }
            offset += 1
        }
        return 0
    }

    package mutating func next(is byte: Unicode.Scalar) -> Bool { peek() == UInt8(ascii: byte) }

    package mutating func take(_ byte: Unicode.Scalar) -> Bool {
        guard next(is: byte) else { return false }
        offset += 1
        return true
    }

    package mutating func expect(_ byte: Unicode.Scalar) throws(JSONError) {
        guard take(byte) else { throw error(.syntax) }
    }

    package mutating func expectEnd() throws(JSONError) {
        _ = peek()
        guard offset == text.count else { throw error(.syntax) }
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

    package mutating func beginObject() throws(JSONError) {
        try expect("{")
        try descend()
    }

    /// Returns the name of the next member, whose value comes next; `nil` at the end of the object, which is consumed.
    package mutating func nextMember(_ isFirst: inout Bool) throws(JSONError) -> String? {
        guard try hasNext(&isFirst, closing: "}") else { return nil }
        let name = try string()
        try expect(":")
        return name
    }

    package mutating func beginArray() throws(JSONError) {
        try expect("[")
        try descend()
    }

    /// Returns whether an element comes next; consumes the end of the array.
    package mutating func nextElement(_ isFirst: inout Bool) throws(JSONError) -> Bool {
        try hasNext(&isFirst, closing: "]")
    }

    private mutating func hasNext(_ isFirst: inout Bool, closing: Unicode.Scalar) throws(JSONError) -> Bool {
        let isAtEnd = isFirst ? next(is: closing) : !take(",")
        isFirst = false
        guard isAtEnd else { return true }
        try expect(closing)
        depthLeft += 1
        return false
    }

    private mutating func descend() throws(JSONError) {
        guard depthLeft > 0 else { throw error(.tooDeep) }
        depthLeft -= 1
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
        case UInt8(ascii: "\""): _ = try string()
        case UInt8(ascii: "t"), UInt8(ascii: "f"): _ = try bool()
        case UInt8(ascii: "n"): guard take(word: "null") else { throw error(.syntax) }
        default: _ = try number()
        }
    }

    // MARK: Values

    package mutating func bool() throws(JSONError) -> Bool {
        if take(word: "true") { return true }
        guard take(word: "false") else { throw error(.invalidValue) }
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

    private func byte() -> UInt8 { offset < text.count ? text[offset] : 0 }

    private mutating func digits() throws(JSONError) {
        let start = offset
        while byte().isASCIIDigit { offset += 1 }
        guard offset > start else { throw error(.syntax) }
    }

    package mutating func string() throws(JSONError) -> String {
        try expect("\"")
        let start = offset
        while offset < text.count, text[offset] != UInt8(ascii: "\""), text[offset] != UInt8(ascii: "\\") {
            guard text[offset] >= 0x20 else { throw error(.syntax) }
            offset += 1
        }
        var bytes = text[start..<offset]
        while byte() != UInt8(ascii: "\"") { try unescaped(into: &bytes) }
        offset += 1
        guard let string = String(validating: bytes, as: UTF8.self) else { throw error(.invalidText) }
        return string
    }

    /// Consumes one byte or one escape of a string.
    private mutating func unescaped(into bytes: inout ArraySlice<UInt8>) throws(JSONError) {
        let first = byte()
        guard first >= 0x20 else { throw error(.syntax) }
        offset += 1
        guard first == UInt8(ascii: "\\") else {
            bytes.append(first)
            return
        }
        let escape = byte()
        offset += 1
        switch escape {
        case UInt8(ascii: "\""), UInt8(ascii: "\\"), UInt8(ascii: "/"): bytes.append(escape)
        case UInt8(ascii: "b"): bytes.append(0x08)
        case UInt8(ascii: "f"): bytes.append(0x0C)
        case UInt8(ascii: "n"): bytes.append(0x0A)
        case UInt8(ascii: "r"): bytes.append(0x0D)
        case UInt8(ascii: "t"): bytes.append(0x09)
        case UInt8(ascii: "u"): bytes += try escapedScalar().utf8
        default: throw error(.syntax)
        }
    }

    /// Reads the four hexadecimal digits after `\u`, and those of the other half of a surrogate pair.
    private mutating func escapedScalar() throws(JSONError) -> String {
        let unit = try hexadecimal()
        if let scalar = Unicode.Scalar(unit) { return String(scalar) }
        guard unit < 0xDC00, byte() == UInt8(ascii: "\\") else { throw error(.invalidText) }
        offset += 1
        guard byte() == UInt8(ascii: "u") else { throw error(.invalidText) }
        offset += 1
        let low = try hexadecimal()
        guard 0xDC00...0xDFFF ~= low,
            let scalar = Unicode.Scalar(0x10000 + (UInt32(unit) - 0xD800) << 10 + (UInt32(low) - 0xDC00))
        else { throw error(.invalidText) }
        return String(scalar)
    }

    private mutating func hexadecimal() throws(JSONError) -> UInt16 {
        guard text.count - offset >= 4 else { throw error(.syntax) }
        var unit: UInt16 = 0
        for digit in text[offset..<offset + 4] {
            guard let value = Character(Unicode.Scalar(digit)).hexDigitValue else { throw error(.syntax) }
            unit = unit << 4 | UInt16(value)
        }
        offset += 4
        return unit
    }
}
