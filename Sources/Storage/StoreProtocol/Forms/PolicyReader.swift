import Basics

/// Reads the JSON of a form's policy (RFC 8259): no deeper than such documents are, and no longer.
struct PolicyReader {
    static let maximumBytes = 20 << 10
    private static let maximumDepth = 6

    private let bytes: [UInt8]
    private var place = 0

    /// - Returns: `nil` for what is no such document.
    static func value(of bytes: [UInt8]) -> JSONValue? {
        guard bytes.count <= maximumBytes else { return nil }
        var reader = PolicyReader(bytes: bytes)
        guard let value = reader.value(depth: 0) else { return nil }
        reader.skipBlanks()
        return reader.place == bytes.count ? value : nil
    }

    private init(bytes: [UInt8]) {
        self.bytes = bytes
    }

    private var next: UInt8? { place < bytes.count ? bytes[place] : nil }

    private mutating func skipBlanks() {
        while let byte = next, [0x20, 0x09, 0x0A, 0x0D].contains(byte) { place += 1 }
    }

    private mutating func take(_ character: Unicode.Scalar) -> Bool {
        skipBlanks()
        guard next == UInt8(ascii: character) else { return false }
        place += 1
        return true
    }

    private mutating func value(depth: Int) -> JSONValue? {
        guard depth < Self.maximumDepth else { return nil }
        skipBlanks()
        switch next {
        case UInt8(ascii: "{"): return object(depth: depth)
        case UInt8(ascii: "["): return array(depth: depth)
        case UInt8(ascii: "\""): return string().map(JSONValue.string)
        default: return number()
        }
    }

    private mutating func object(depth: Int) -> JSONValue? {
        guard take("{") else { return nil }
        var members: [JSONValue.Member] = []
        if take("}") { return .object(members) }
        repeat {
            skipBlanks()
            guard let name = string(), take(":"), let value = value(depth: depth + 1) else { return nil }
            members.append(JSONValue.Member(name: name, value: value))
        } while take(",")
        return take("}") ? .object(members) : nil
    }

    private mutating func array(depth: Int) -> JSONValue? {
        guard take("[") else { return nil }
        var elements: [JSONValue] = []
        if take("]") { return .array(elements) }
        repeat {
            guard let value = value(depth: depth + 1) else { return nil }
            elements.append(value)
        } while take(",")
        return take("]") ? .array(elements) : nil
    }

    private mutating func number() -> JSONValue? {
        var digits = ""
        while let byte = next, byte.isASCIIDigit {
            digits.unicodeScalars.append(Unicode.Scalar(byte))
            place += 1
        }
        return Int64(digits).map(JSONValue.number)
    }

    private mutating func string() -> String? {
        guard take("\"") else { return nil }
        var text: [UInt8] = []
        while let byte = next {
            place += 1
            switch byte {
            case UInt8(ascii: "\""): return String(validating: text, as: UTF8.self)
            case UInt8(ascii: "\\"):
                guard let escaped = escape() else { return nil }
                text += escaped
            case 0..<0x20: return nil
            default: text.append(byte)
            }
        }
        return nil
    }

    /// Reads the escape after a backslash (RFC 8259, section 7; `\$` is of S3's policies).
    private mutating func escape() -> [UInt8]? {
        guard let byte = next else { return nil }
        place += 1
        switch byte {
        case UInt8(ascii: "\""), UInt8(ascii: "\\"), UInt8(ascii: "/"), UInt8(ascii: "$"): return [byte]
        case UInt8(ascii: "b"): return [0x08]
        case UInt8(ascii: "f"): return [0x0C]
        case UInt8(ascii: "n"): return [0x0A]
        case UInt8(ascii: "r"): return [0x0D]
        case UInt8(ascii: "t"): return [0x09]
        case UInt8(ascii: "u"):
            guard let first = codeUnit() else { return nil }
            var units = [first]
            // A character beyond the basic plane is a pair of surrogates.
            if UTF16.isLeadSurrogate(first) {
                guard takeBytes("\\u"), let second = codeUnit() else { return nil }
                units.append(second)
            }
            return String(validating: units, as: UTF16.self).map { Array($0.utf8) }
        default: return nil
        }
    }

    /// Reads the four hexadecimal digits of an escaped unit of UTF-16.
    private mutating func codeUnit() -> UInt16? {
        guard place + 4 <= bytes.count, bytes[place..<place + 4].allSatisfy({ $0.hexDigitValue != nil }) else {
            return nil
        }
        defer { place += 4 }
        return UInt16(String(decoding: bytes[place..<place + 4], as: UTF8.self), radix: 16)
    }

    private mutating func takeBytes(_ text: StaticString) -> Bool {
        let taken = text.withUTF8Buffer { bytes[place...].starts(with: $0) }
        if taken { place += text.utf8CodeUnitCount }
        return taken
    }
}
