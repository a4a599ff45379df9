import ProtobufJSON

/// A JSON value of another party (RFC 8259), read strictly: no repeated member at any depth, valid UTF-8, bounded depth.
package enum ClaimValue: Sendable, Hashable {
    case null
    case flag(Bool)
    /// The text of a number.
    case number(String)
    case text(String)
    case list([ClaimValue])
    case object([String: ClaimValue])

    /// - Returns: `nil` for anything that is not one value by these rules.
    package init?(parsing bytes: [UInt8]) {
        var scanner = JSONScanner(bytes)
        guard let value = try? Self.value(&scanner), (try? scanner.expectEnd()) != nil else { return nil }
        self = value
    }

    private static func value(_ scanner: inout JSONScanner) throws -> ClaimValue {
        switch scanner.peek() {
        case UInt8(ascii: "{"): return .object(try members(&scanner))
        case UInt8(ascii: "["):
            try scanner.beginArray()
            var (elements, isFirst): ([ClaimValue], Bool) = ([], true)
            while try scanner.nextElement(&isFirst) { elements.append(try value(&scanner)) }
            return .list(elements)
        case UInt8(ascii: "\""): return .text(try scanner.string())
        case UInt8(ascii: "t"), UInt8(ascii: "f"): return .flag(try scanner.bool())
        case UInt8(ascii: "n"):
            guard scanner.take(word: "null") else { throw Malformed() }
            return .null
        default: return .number(String(try scanner.number()))
        }
    }

    private static func members(_ scanner: inout JSONScanner) throws -> [String: ClaimValue] {
        try scanner.beginObject()
        var (members, isFirst): ([String: ClaimValue], Bool) = ([:], true)
        while let name = try scanner.nextMember(&isFirst) {
            guard members.updateValue(try value(&scanner), forKey: name) == nil else { throw Malformed() }
        }
        return members
    }

    private struct Malformed: Error {}
}

extension ClaimValue {
    package var members: [String: ClaimValue]? {
        if case .object(let members) = self { members } else { nil }
    }

    package var elements: [ClaimValue]? {
        if case .list(let elements) = self { elements } else { nil }
    }

    package var text: String? {
        if case .text(let text) = self { text } else { nil }
    }

    /// A truth value, which some providers send as text.
    package var flag: Bool? {
        switch self {
        case .flag(let flag): flag
        case .text("true"): true
        case .text("false"): false
        default: nil
        }
    }

    /// The whole seconds of a NumericDate, rounded down (RFC 7519, section 2); `nil` outside the years 1970 to 9999.
    package var seconds: Int64? {
        guard case .number(let text) = self, let number = Double(text), (0...253_402_300_799).contains(number) else {
            return nil
        }
        return Int64(number.rounded(.down))
    }

    /// The texts of a text or of a list of texts; `nil` for other values.
    package var texts: [String]? {
        if let text { return [text] }
        guard let elements else { return nil }
        let texts = elements.compactMap(\.text)
        return texts.count == elements.count ? texts : nil
    }

    /// The text of a single value as a claim is compared with the configuration; `nil` for lists, objects and null.
    package var comparableText: String? {
        switch self {
        case .text(let text), .number(let text): text
        case .flag(let flag): "\(flag)"
        case .null, .list, .object: nil
        }
    }
}
