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
