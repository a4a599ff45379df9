import Basics

/// The JSON of the gateway's own tokens: one object whose values are strings without escapes, or whole numbers that are not
/// negative.
///
/// Foundation's decoder accepts a repeated member and keeps one of its values, which makes tokens ambiguous (RFC 8725, section
/// 2.7). This decoder refuses everything that the encoder beside it does not write.
enum FlatJSON {
    enum Value: Equatable {
        case text(String)
        case number(Int64)
    }

    /// - Parameter members: names and texts of plain ASCII without `"` and `\`; numbers that are not negative.
    static func encode(_ members: [(name: String, value: Value)]) -> String {
        let parts = members.map { name, value in
            switch value {
            case .text(let text): "\"\(name)\":\"\(text)\""
            case .number(let number): "\"\(name)\":\(number)"
            }
        }
        return "{\(parts.joined(separator: ","))}"
    }

    /// Returns `nil` for anything that ``encode(_:)`` does not write, and for a repeated member.
    static func decode(_ bytes: [UInt8]) -> [String: Value]? {
        var reader = Reader(rest: bytes[...])
        var members: [String: Value] = [:]
        guard reader.take(UInt8(ascii: "{")) else { return nil }
        while true {
            guard let name = reader.string(), reader.take(UInt8(ascii: ":")), let value = reader.value() else {
                return nil
            }
            guard members.updateValue(value, forKey: name) == nil else { return nil }
            if reader.take(UInt8(ascii: ",")) { continue }
            return reader.take(UInt8(ascii: "}")) && reader.rest.isEmpty ? members : nil
        }
    }

    private struct Reader {
        var rest: ArraySlice<UInt8>

        mutating func take(_ byte: UInt8) -> Bool {
            guard rest.first == byte else { return false }
            rest.removeFirst()
            return true
        }

        mutating func string() -> String? {
            guard take(UInt8(ascii: "\"")), let end = rest.firstIndex(of: UInt8(ascii: "\"")) else { return nil }
            let content = rest[..<end]
            guard content.allSatisfy({ $0.isASCIIPrintable && $0 != UInt8(ascii: "\\") }) else { return nil }
            rest = rest[(end + 1)...]
            return String(decoding: content, as: UTF8.self)
        }

        mutating func value() -> Value? {
            if rest.first == UInt8(ascii: "\"") { return string().map(Value.text) }
            let digits = rest.prefix { $0.isASCIIDigit }
            guard let number = Int64(String(decoding: digits, as: UTF8.self)) else { return nil }
            guard digits.count == 1 || digits.first != UInt8(ascii: "0") else { return nil }
            rest = rest[digits.endIndex...]
            return .number(number)
        }
    }
}
