import Basics

/// A header field's value with its parameters: `form-data; name="a"` (RFC 9110, section 5.6.6).
package struct HeaderParameters: Sendable {
    /// The text before the first semicolon.
    package let value: String
    private var parameters: [(name: String, value: String)] = []

    package init(_ text: String) {
        var rest = Array(text.utf8)[...]
        value = Self.takeText(&rest) { $0 == Self.semicolon }
        while rest.first == Self.semicolon {
            rest = rest.dropFirst()
            let name = Self.takeText(&rest) { $0 == Self.equals || $0 == Self.semicolon }
            guard rest.first == Self.equals else { continue }
            rest = rest.dropFirst().drop(while: Self.isBlank)
            let isQuoted = rest.first == Self.quote
            let value = isQuoted ? Self.takeQuoted(&rest) : Self.takeText(&rest) { $0 == Self.semicolon }
            rest = rest.drop { $0 != Self.semicolon }
            parameters.append((name.lowercased(), value))
        }
    }

    /// The value of a parameter; `nil` if it is missing or repeated.
    package subscript(name: String) -> String? {
        let found = parameters.filter { $0.name == name }
        return found.count == 1 ? found[0].value : nil
    }

    private static let quote = UInt8(ascii: "\"")
    private static let backslash = UInt8(ascii: "\\")
    private static let semicolon = UInt8(ascii: ";")
    private static let equals = UInt8(ascii: "=")

    private static func isBlank(_ byte: UInt8) -> Bool { byte == 0x20 || byte == 0x09 }

    /// Takes the text up to its end, and returns it without the blanks around it.
    private static func takeText(_ rest: inout ArraySlice<UInt8>, upTo isEnd: (UInt8) -> Bool) -> String {
        let end = rest.firstIndex(where: isEnd) ?? rest.endIndex
        var text = rest[..<end].drop(while: isBlank)
        while let last = text.last, isBlank(last) { text.removeLast() }
        rest = rest[end...]
        return String(decoding: text, as: UTF8.self)
    }

    /// Takes a quoted string. Browsers escape a quotation mark as `%22` and do not escape backslashes (WHATWG HTML, "multipart form
    /// data"); others put a backslash before both (RFC 9110, section 5.6.4). A backslash before the last quotation mark is part of
    /// the text, as at the end of a folder's name in Windows.
    private static func takeQuoted(_ rest: inout ArraySlice<UInt8>) -> String {
        rest = rest.dropFirst()
        var text: [UInt8] = []
        while let byte = rest.popFirst(), byte != quote {
            if byte == backslash, rest.first == backslash || rest.first == quote && rest.dropFirst().contains(quote) {
                text.append(rest.removeFirst())
            } else if byte == UInt8(ascii: "%"), rest.starts(with: "22".utf8) {
                text.append(quote)
                rest = rest.dropFirst(2)
            } else {
                text.append(byte)
            }
        }
        return String(decoding: text, as: UTF8.self)
    }
}
