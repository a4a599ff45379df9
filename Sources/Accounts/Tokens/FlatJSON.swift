import Basics
import JSON

/// The JSON of the gateway's own tokens: one object whose values are strings without escapes, or whole numbers that are not
/// negative.
///
/// A repeated member would make a token ambiguous (RFC 8725, section 2.7). The decoder refuses everything that the encoder beside
/// it does not write.
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
        guard bytes.allSatisfy({ $0.isASCIIPrintable && $0 != UInt8(ascii: "\\") }) else { return nil }
        var scanner = JSONScanner(bytes, rules)
        var members: [String: Value] = [:]
        var isFirst = true
        do throws(JSONError) {
            try scanner.beginObject()
            while let name = try scanner.nextMember(&isFirst) {
                guard let value = try value(&scanner), members.updateValue(value, forKey: name) == nil else {
                    return nil
                }
            }
            try scanner.expectEnd()
        } catch {
            return nil
        }
        return members.isEmpty ? nil : members
    }

    private static let rules = {
        var rules = JSONRules.json
        rules.permitsBlanks = false
        rules.maximumDepth = 1
        return rules
    }()

    private static func value(_ scanner: inout JSONScanner) throws(JSONError) -> Value? {
        if scanner.next(is: "\"") { return .text(try scanner.string()) }
        let digits = try scanner.number()
        guard digits.utf8.allSatisfy(\.isASCIIDigit) else { return nil }
        return Int64(digits).map(Value.number)
    }
}
