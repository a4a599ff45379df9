/// A parser for the filter of ListObjects:
///
///     filter      = *SP [ alternatives ] *SP
///     alternatives = conjunction *( SP+ "OR" SP+ conjunction )
///     conjunction = factor *( SP+ [ "AND" SP+ ] factor )
///     factor      = [ "NOT" SP+ ] ( "(" alternatives ")" | term )
///     term        = name op value | key "=" value | word
///
/// A value is bare (without spaces and quotes), or in double quotes with the escapes `\"` and `\\`; so are words and keys of tags.
/// Bare values may contain parentheses; in a group, a closing parenthesis without an opening one in the value ends the group.
package struct FilterParser {
    package static let maximumBytes = 4096
    package static let maximumTerms = 16
    /// The deepest nesting of parentheses and NOT.
    package static let maximumNesting = 16

    var scanner: FilterScanner
    private var terms = 0
    private var nesting = 0

    /// - Throws: ``FilterError`` with the position of the first invalid byte.
    package static func parse(_ text: String) throws(FilterError) -> ObjectFilter {
        var parser = FilterParser(text)
        return ObjectFilter(try parser.filter())
    }

    private init(_ text: String) {
        scanner = FilterScanner(text)
    }

    private mutating func filter() throws(FilterError) -> ObjectFilter.Expression {
        guard scanner.count <= Self.maximumBytes else {
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
