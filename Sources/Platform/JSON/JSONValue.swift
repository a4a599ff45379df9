import Basics

/// A JSON value. Members keep their order, for human readers.
package enum JSONValue: Sendable, Hashable {
    case null
    case bool(Bool)
    case number(Int64)
    /// A number with a fraction or an exponent, or one that is too large: its text in JSON.
    case decimal(String)
    case string(String)
    case array([JSONValue])
    case object([Member])

    package struct Member: Sendable, Hashable {
        package let name: String
        package let value: JSONValue

        package init(name: String, value: JSONValue) {
            self.name = name
            self.value = value
        }
    }

    /// - Parameter text: a number as JSON has it. It is the same again when the value is written.
    init(number text: Substring) {
        guard let whole = Int64(text), text != "-0" else {
            self = .decimal(String(text))
            return
        }
        self = .number(whole)
    }

    /// Reads a text that is one value.
    package init(parsing text: [UInt8], _ rules: JSONRules = .json) throws(JSONError) {
        var reader = JSONValueReader(text, rules)
        self = try reader.document()
    }

    // MARK: Writing

    /// The value as JSON on one line, in which no character moves a terminal's cursor.
    package var text: String {
        var output: [UInt8] = []
        write(to: &output)
        return String(decoding: output, as: UTF8.self)
    }

    private func write(to output: inout [UInt8]) {
        switch self {
        case .null: output += "null".utf8
        case .bool(let value): output += (value ? "true" : "false").utf8
        case .number(let number): output += "\(number)".utf8
        case .decimal(let text): output += text.utf8
        case .string(let text): JSONText.quote(text, to: &output, escaping: .unprintable)
        case .array(let elements):
            output.append(UInt8(ascii: "["))
            for (index, element) in elements.enumerated() {
                if index > 0 { output.append(UInt8(ascii: ",")) }
                element.write(to: &output)
            }
            output.append(UInt8(ascii: "]"))
        case .object(let members):
            output.append(UInt8(ascii: "{"))
            for (index, member) in members.enumerated() {
                if index > 0 { output.append(UInt8(ascii: ",")) }
                JSONText.quote(member.name, to: &output, escaping: .unprintable)
                output.append(UInt8(ascii: ":"))
                member.value.write(to: &output)
            }
            output.append(UInt8(ascii: "}"))
        }
    }
}

// MARK: Reading

extension JSONValue {
    /// The members of an object; the first of those with the same name.
    package var members: [String: JSONValue]? {
        guard case .object(let members) = self else { return nil }
        return Dictionary(members.map { ($0.name, $0.value) }) { first, _ in first }
    }

    package var elements: [JSONValue]? {
        if case .array(let elements) = self { elements } else { nil }
    }

    package var stringValue: String? {
        if case .string(let text) = self { text } else { nil }
    }

    /// The strings of a string or of an array of strings; `nil` for other values.
    package var strings: [String]? {
        if let stringValue { return [stringValue] }
        guard let elements else { return nil }
        let strings = elements.compactMap(\.stringValue)
        return strings.count == elements.count ? strings : nil
    }

    /// The value of a whole number, in whichever form it is written.
    package var integer: Int64? {
        switch self {
        case .number(let number): number
        case .decimal(let text): JSONNumber.integer(text[...], Int64.self)
        default: nil
        }
    }

    /// The value of a number; `nil` also for one that is too large.
    package var double: Double? {
        switch self {
        case .number(let number): Double(number)
        case .decimal(let text): JSONNumber.floating(text[...], Double.self)
        default: nil
        }
    }
}

/// Conversion between numbers and their text in JSON.
package enum JSONNumber {
    /// Returns the whole number of a text such as `1`, `1.0` or `1e5`; `nil` if it is no JSON number, or the type cannot hold it.
    package static func integer<Integer: FixedWidthInteger>(_ text: Substring, _: Integer.Type) -> Integer? {
        guard isNumber(text) else { return nil }
        return Integer(text) ?? plainInteger(text).flatMap { Integer($0) }
    }

    /// Returns the exact digits of an integer such as `1.0`, `1e5` or `120e-1`; `nil` if a fraction remains.
    private static func plainInteger(_ number: Substring) -> String? {
        let parts = number.split(maxSplits: 1) { $0 == "e" || $0 == "E" }
        let mantissa = (parts.first ?? "").split(separator: ".", maxSplits: 1)
        let isNegative = number.hasPrefix("-")
        let fraction = mantissa.count > 1 ? mantissa[1] : ""
        var digits = ((mantissa.first ?? "") + fraction).drop { $0 == "-" || $0 == "0" }
        if digits.isEmpty { return "0" }
        guard let written = parts.count > 1 ? Int(parts[1]) : 0, written.magnitude < 1 << 32 else { return nil }
        var exponent = written - fraction.count
        while exponent < 0, digits.last == "0" {
            digits.removeLast()
            exponent += 1
        }
        // No integer type has more than 20 digits.
        guard exponent >= 0, digits.count + exponent <= 20 else { return nil }
        return (isNegative ? "-" : "") + digits + String(repeating: "0", count: exponent)
    }

    /// - Returns: `nil` if the text is no JSON number, or the type cannot hold it.
    package static func floating<Number: BinaryFloatingPoint & LosslessStringConvertible>(
        _ text: Substring, _: Number.Type
    ) -> Number? {
        guard isNumber(text), let value = Number(String(text)), value.isFinite else { return nil }
        return value
    }

    /// Whether the text is a JSON number. Swift's own initializers accept more, such as `0x1p4` and `+1`.
    package static func isNumber(_ text: Substring) -> Bool {
        // The scanner skips white space, which is not allowed here.
        guard let first = text.utf8.first, first > 0x20 else { return false }
        var scanner = JSONScanner([UInt8](text.utf8))
        do throws(JSONError) {
            return try scanner.number().utf8.count == text.utf8.count
        } catch {
            return false
        }
    }
}
