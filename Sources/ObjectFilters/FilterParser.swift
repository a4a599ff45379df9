import Basics

/// A parser for the filter of ListObjects:
///
///     filter      = *SP [ alternatives ] *SP
///     alternatives = conjunction *( SP+ "OR" SP+ conjunction )
///     conjunction = factor *( SP+ [ "AND" SP+ ] factor )
///     factor      = [ "NOT" SP+ ] ( "(" alternatives ")" | term )
///     term        = name op value | key "=" value | "begins:" value | "folder:" value | word
///
/// A value is bare (without spaces and quotes), or in double quotes with the escapes `\"` and `\\`; so are words and keys of tags.
/// Bare values may contain parentheses; in a group, a closing parenthesis without an opening one in the value ends the group.
package struct FilterParser {
    package static let maximumBytes = 4096
    package static let maximumTerms = 16
    /// The deepest nesting of parentheses and NOT.
    package static let maximumNesting = 16

    /// The name of the term for beginnings. It is no ``FilterField``, because `begins=VALUE` compares the tag of that key.
    static let begins = "begins"
    /// The name of the term for folders, which is no ``FilterField`` for the same reason.
    package static let folder = "folder"
    /// The beginning of a term for a tag, whatever its key is.
    static let rawTags = "raw_tags"
    /// The longest filter of an operation or a rule: one for lists, each of whose terms got a beginning by ``rewriting(_:)``.
    private static let maximumBytesForChange = maximumBytes + maximumTerms * (rawTags.utf8.count + 1)

    /// A word, which may have stars.
    struct Word {
        /// The offset in bytes of UTF-8.
        let position: Int
        let text: String
        let hasStar: Bool
    }

    var scanner: FilterScanner
    /// The words of the filter, in its order.
    var words: [Word] = []
    /// The first days that are counted from the current one, such as `yesterday`.
    var relativeDays: (position: Int, text: String)?
    /// The fields whose names were keys of tags when the filter was written, and where it has them.
    var newFields: Set<FilterField> = []
    var oldTags: [Int] = []
    private let limit: Int
    private var terms = 0
    private var nesting = 0

    /// - Throws: ``FilterError`` with the position of the first invalid byte.
    package static func parse(_ text: String) throws(FilterError) -> ObjectFilter {
        var parser = FilterParser(text)
        return ObjectFilter(try parser.filter())
    }

    /// Parses the filter of an operation on many objects or of a rule. It must not have words, which find more than people expect,
    /// and no days such as `yesterday`, which are others after midnight.
    ///
    /// - Throws: ``FilterError`` with the position of the first invalid byte, word or day.
    package static func parseForChange(_ text: String) throws(FilterError) -> ObjectFilter {
        var parser = FilterParser(text, limit: maximumBytesForChange)
        let filter = ObjectFilter(try parser.filter())
        if let word = parser.words.first(where: { !$0.hasStar }) { throw word.refusal }
        if let days = parser.relativeDays {
            throw FilterError(
                position: days.position,
                expected: "a date such as 2026-01-31, because this filter selects what changes, also after midnight",
                found: "\"\(days.text)\"")
        }
        return filter
    }

    /// Returns a filter of a version before 0.3.0 with the same meaning. Words, which stood for beginnings, become terms `begins:WORD`,
    /// and the tag `recorded`, whose key is the name of a field now, becomes `raw_tags.recorded`.
    ///
    /// - Throws: ``FilterError`` if it is invalid.
    package static func rewriting(_ text: String) throws(FilterError) -> String {
        var parser = FilterParser(text)
        parser.newFields = [.recorded]
        _ = try parser.filter()
        let beginnings =
            parser.words.map { ($0.position, "\(begins):") } + parser.oldTags.map { ($0, "\(rawTags).") }
        var bytes = Array(text.utf8)
        for (position, beginning) in beginnings.sorted(by: { $0.0 > $1.0 }) {
            bytes.insert(contentsOf: beginning.utf8, at: position)
        }
        return String(decoding: bytes, as: UTF8.self)
    }

    /// Returns a text as a value: bare if it has only letters, digits and the characters that paths and times mostly have.
    package static func value(_ text: String) -> String {
        let isBare = !text.isEmpty && text.utf8.allSatisfy { $0.isASCIIAlphanumeric || "_.:/+@-".utf8.contains($0) }
        return isBare ? text : quoted(text)
    }

    /// Returns a text as a word or a value in quotes, whatever characters it has.
    fileprivate static func quoted(_ text: String) -> String {
        "\"\(text.replacing(bytes: ["\\": "\\\\", "\"": "\\\""]))\""
    }

    private init(_ text: String, limit: Int = maximumBytes) {
        scanner = FilterScanner(text)
        self.limit = limit
    }

    private mutating func filter() throws(FilterError) -> ObjectFilter.Expression {
        guard scanner.count <= limit else {
            throw FilterError(
                position: Self.maximumBytes, expected: "at most \(Self.maximumBytes) bytes",
                found: "\(scanner.count) bytes")
        }
        if let control = scanner.firstControlCharacter {
            throw FilterError(
                position: control, expected: "printable characters and spaces", found: "a control character")
        }
        scanner.skipSpaces()
        return scanner.isAtEnd ? .all([]) : try alternatives()
    }

    private mutating func alternatives() throws(FilterError) -> ObjectFilter.Expression {
        var children = [try conjunction()]
        while scanner.skipKeyword("OR") { children.append(try conjunction()) }
        return children.count == 1 ? children[0] : .any(children)
    }

    /// Reads up to the end of the filter, an `OR`, or the parenthesis that closes the group.
    private mutating func conjunction() throws(FilterError) -> ObjectFilter.Expression {
        var children = [try factor()]
        while true {
            let end = scanner.position
            scanner.skipSpaces()
            if scanner.isAtEnd || scanner.groups > 0 && scanner.byte == UInt8(ascii: ")") { break }
            guard scanner.position > end else { throw scanner.failure("a space") }
            if scanner.isAtKeyword("OR") { break }
            _ = scanner.skipKeyword("AND")
            children.append(try factor())
        }
        return children.count == 1 ? children[0] : .all(children)
    }

    private mutating func factor() throws(FilterError) -> ObjectFilter.Expression {
        let start = scanner.position
        for keyword in ["AND", "OR"] where scanner.isAtKeyword(keyword) { throw scanner.failure("a term") }
        if scanner.skipKeyword("NOT") {
            return .not(try nested(at: start) { (parser) throws(FilterError) in try parser.factor() })
        }
        if scanner.skip("(") {
            return try nested(at: start) { (parser) throws(FilterError) in try parser.group() }
        }
        guard terms < Self.maximumTerms else { throw scanner.failure("at most \(Self.maximumTerms) terms") }
        terms += 1
        return .term(try term())
    }

    private mutating func group() throws(FilterError) -> ObjectFilter.Expression {
        scanner.groups += 1
        scanner.skipSpaces()
        let content = try alternatives()
        guard scanner.skip(")") else { throw scanner.failure("\")\"") }
        scanner.groups -= 1
        return content
    }

    private mutating func nested(
        at start: Int, _ body: (inout FilterParser) throws(FilterError) -> ObjectFilter.Expression
    ) throws(FilterError) -> ObjectFilter.Expression {
        guard nesting < Self.maximumNesting else {
            throw scanner.failure("at most \(Self.maximumNesting) nested parentheses and NOT", at: start)
        }
        nesting += 1
        let expression = try body(&self)
        nesting -= 1
        return expression
    }
}

/// An invalid filter, with the position of the error.
package struct FilterError: Error, Sendable, Hashable, CustomStringConvertible {
    /// The offset in bytes of UTF-8.
    package let position: Int
    package let expected: String
    package let found: String

    package var description: String { "byte \(position): expected \(expected), found \(found)" }
}

extension FilterParser.Word {
    /// The error for a word in a filter of an operation or a rule.
    fileprivate var refusal: FilterError {
        let needsQuotes = !text.utf8.allSatisfy { $0.isASCIIAlphanumeric || $0 >= 0x80 || "._-".utf8.contains($0) }
        func written(_ value: String) -> String { needsQuotes ? FilterParser.quoted(value) : value }
        return FilterError(
            position: position,
            expected: """
                \(FilterParser.begins):\(written(text)) (the beginning of the name, the device or the value of a tag) or \
                name:\(written("*\(text)*")) (a part of the name), because this filter selects what changes
                """, found: "the word \"\(text)\"")
    }
}
