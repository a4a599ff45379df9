/// A scanner for filters: names, values, quoted texts and keywords.
struct FilterScanner {
    private let bytes: [UInt8]
    private(set) var position = 0
    /// The number of groups that are open at the position.
    var groups = 0

    init(_ text: String) {
        bytes = Array(text.utf8)
    }

    var count: Int { bytes.count }

    var isAtEnd: Bool { position == bytes.count }

    var byte: UInt8? { position < bytes.count ? bytes[position] : nil }

    var isAtOperator: Bool { byte.map(":=<>".utf8.contains) ?? false }

    var firstControlCharacter: Int? { bytes.firstIndex { $0 < 0x20 || $0 == 0x7F } }

    mutating func skip(_ character: Unicode.Scalar) -> Bool {
        guard byte == UInt8(ascii: character) else { return false }
        position += 1
        return true
    }

    mutating func skip(bytes count: Int) {
        position = min(position + count, bytes.count)
    }

    mutating func skipSpaces() {
        while byte == UInt8(ascii: " ") { position += 1 }
    }

    /// Whether the keyword is at the position, followed by a space, a parenthesis or the end.
    func isAtKeyword(_ word: String) -> Bool {
        guard bytes[position...].starts(with: word.utf8) else { return false }
        let next = position + word.utf8.count
        return next == bytes.count || " ()".utf8.contains(bytes[next])
    }

    /// Skips the keyword and the spaces after it; returns false, without moving, if it is not at the position.
    mutating func skipKeyword(_ word: String) -> Bool {
        guard isAtKeyword(word) else { return false }
        position += word.utf8.count
        skipSpaces()
        return true
    }

    /// Reads a key up to the operator; it contains no spaces and quotes.
    mutating func tagKey() -> String {
        let start = position
        while let byte, !":=<> \"".utf8.contains(byte) { position += 1 }
        return text(start..<position)
    }

    /// Reads a word up to a space, a quote, an operator or the parenthesis that closes a group.
    mutating func word() -> String {
        let start = position
        skipBalanced { ":=<>".utf8.contains($0) }
        return text(start..<position)
    }

    /// Reads a value up to a space, a quote or the parenthesis that closes a group. Outside groups it may contain any parentheses.
    mutating func bareValue() -> String {
        let start = position
        skipBalanced { _ in false }
        while groups == 0, byte == UInt8(ascii: ")") {
            position += 1
            skipBalanced { _ in false }
        }
        return text(start..<position)
    }

    private mutating func skipBalanced(until isEnd: (UInt8) -> Bool) {
        var depth = 0
        while let byte, byte != UInt8(ascii: " "), byte != UInt8(ascii: "\""), !isEnd(byte) {
            if byte == UInt8(ascii: "(") { depth += 1 }
            if byte == UInt8(ascii: ")") {
                if depth == 0 { return }
                depth -= 1
            }
            position += 1
        }
    }

    /// Reads a text in quotes and removes its escapes.
    mutating func quoted() throws(FilterError) -> String {
        let start = position
        var content: [UInt8] = []
        position += 1
        while let byte {
            position += 1
            switch byte {
            case UInt8(ascii: "\""): return String(decoding: content, as: UTF8.self)
            case UInt8(ascii: "\\"):
                guard let escaped = self.byte, escaped == UInt8(ascii: "\"") || escaped == UInt8(ascii: "\\") else {
                    throw failure("\\\" or \\\\")
                }
                content.append(escaped)
                position += 1
            default: content.append(byte)
            }
        }
        throw FilterError(position: start, expected: "a closing quote after this one", found: "the end of the filter")
    }

    /// Makes an error with the text at a position.
    ///
    /// - Parameter position: `nil` = the current one.
    func failure(_ expected: String, at position: Int? = nil) -> FilterError {
        let position = position ?? self.position
        return FilterError(position: position, expected: expected, found: found(at: position))
    }

    private func found(at position: Int) -> String {
        guard position < bytes.count else { return "the end of the filter" }
        if bytes[position] == UInt8(ascii: " ") { return "a space" }
        let rest = String(decoding: bytes[position...].prefix { $0 != UInt8(ascii: " ") }, as: UTF8.self)
        return "\"\(rest.count > 32 ? rest.prefix(32) + "…" : rest[...])\""
    }

    private func text(_ range: Range<Int>) -> String {
        String(decoding: bytes[range], as: UTF8.self)
    }
}
