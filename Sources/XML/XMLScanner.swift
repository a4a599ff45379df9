import Basics

/// A cursor over the bytes of a document, which were validated as UTF-8 and as characters of XML.
///
/// Each function reads one production of the grammar, in time linear in the bytes read.
struct XMLScanner {
    let bytes: [UInt8]
    /// The index of the next byte; at most the number of bytes.
    var offset = 0

    /// - Throws: `invalidText` if the bytes are not UTF-8 or contain a character that XML does not allow.
    init(_ bytes: [UInt8]) throws(XMLError) {
        if let offset = Self.offsetOfInvalidText(bytes) { throw XMLError(.invalidText, at: offset) }
        self.bytes = bytes
    }

    // MARK: Looking and moving

    var isAtEnd: Bool { offset == bytes.count }

    /// Returns the byte `distance` bytes ahead; `nil` beyond the end.
    func peek(_ distance: Int = 0) -> UInt8? {
        offset + distance < bytes.count ? bytes[offset + distance] : nil
    }

    /// Skips the literal if it is next.
    mutating func skip(_ literal: StaticString) -> Bool {
        let count = literal.withUTF8Buffer { bytes[offset...].starts(with: $0) ? $0.count : 0 }
        offset += count
        return count > 0
    }

    mutating func require(_ literal: StaticString) throws(XMLError) {
        guard skip(literal) else { throw XMLError(.syntax, at: offset) }
    }

    /// Skips spaces, tabs and line ends.
    ///
    /// - Returns: whether there were any.
    @discardableResult
    mutating func skipWhitespace() -> Bool {
        let start = offset
        while let byte = peek(), Self.isWhitespace(byte) { offset += 1 }
        return offset > start
    }

    private static func isWhitespace(_ byte: UInt8) -> Bool {
        byte == 0x20 || byte == 0x09 || byte == 0x0A || byte == 0x0D
    }

    // MARK: Names

    /// Reads a name with or without a prefix (Namespaces in XML 1.0, production 7), in ASCII.
    mutating func qualifiedName() throws(XMLError) -> XMLName {
        let first = try unprefixedName()
        let second = skip(":") ? try unprefixedName() : nil
        let name = XMLName(prefix: second == nil ? nil : first, local: second ?? first)
        guard name.whole.count <= XMLLimits.nameBytes else {
            throw XMLError(.limitExceeded, at: name.whole.lowerBound)
        }
        return name
    }

    mutating func unprefixedName() throws(XMLError) -> Range<Int> {
        let start = offset
        while let byte = peek(), Self.belongsToName(byte, isFirst: offset == start) { offset += 1 }
        if let byte = peek(), byte >= 0x80 { throw XMLError(.unsupported, at: offset) }
        guard offset > start else { throw XMLError(.syntax, at: offset) }
        return start..<offset
    }

    private static func belongsToName(_ byte: UInt8, isFirst: Bool) -> Bool {
        if byte.isASCIILetter || byte == UInt8(ascii: "_") { return true }
        return !isFirst && (byte.isASCIIDigit || byte == UInt8(ascii: "-") || byte == UInt8(ascii: "."))
    }

    func text(of range: Range<Int>) -> String { String(decoding: bytes[range], as: UTF8.self) }

    func isEqual(_ range: Range<Int>, _ other: Range<Int>) -> Bool {
        bytes[range].elementsEqual(bytes[other])
    }

    func isEqual(_ range: Range<Int>, _ text: StaticString) -> Bool {
        text.withUTF8Buffer { bytes[range].elementsEqual($0) }
    }
}

/// A name in a document, as ranges of its bytes.
struct XMLName {
    let prefix: Range<Int>?
    let local: Range<Int>

    /// The name with its prefix.
    var whole: Range<Int> { (prefix ?? local).lowerBound..<local.upperBound }
}

/// The limits of documents. Except for the size they are the same for every document: object stores nest at most four levels, and
/// put at most two attributes on an element.
package enum XMLLimits {
    /// Elements that are open at the same time, including the root.
    package static let depth = 16
    /// Attributes of one element, including namespace declarations. They are compared pair by pair.
    package static let attributes = 16
    /// Prefixes that open elements declare. Each prefixed name is looked up among them.
    package static let prefixes = 16
    /// Bytes of a name, including its prefix.
    package static let nameBytes = 128
    /// Bytes of an attribute's value before escapes are resolved.
    package static let valueBytes = 1024
}
