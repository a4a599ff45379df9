/// A pull parser for the small part of XML that object stores use: elements, text and attributes in UTF-8.
///
/// It rejects document type declarations, CDATA sections, processing instructions and all entities except XML's own five, so
/// nothing is expanded or fetched. Comments are skipped. Attributes are checked, counted and dropped. Prefixes must be declared,
/// and are dropped too: names are those in the document's own namespace. For any bytes it returns or throws in linear time and
/// without recursion.
package struct XMLReader: ~Copyable {
    package enum Event: Equatable, Sendable {
        /// A start tag, or the first half of an empty element, with the name without a prefix.
        case start(String)
        /// Text between tags and comments; one element's text may come in pieces.
        case text(String)
        /// The end of the element that is open and was started last.
        case end(String)
    }

    private struct OpenElement {
        let name: XMLName
        /// The number of prefixes in scope outside the element.
        let outerPrefixes: Int
    }

    private var scanner: XMLScanner
    private var open: [OpenElement] = []
    /// The prefixes that open elements declare.
    private var prefixes: [Range<Int>] = []
    private var hasRoot = false
    /// Whether the element that was started last is empty, so that its end comes next.
    private var isEmptyElement = false
    private var failure: XMLError?

    /// - Parameter maximumBytes: the largest accepted document.
    package init(_ bytes: [UInt8], maximumBytes: Int) throws(XMLError) {
        guard bytes.count <= maximumBytes else { throw XMLError(.limitExceeded, at: maximumBytes) }
        var scanner = try XMLScanner(bytes)
        try Self.skipDeclaration(&scanner)
        self.init(scanner)
    }

    private init(_ scanner: XMLScanner) {
        self.scanner = scanner
    }

    /// Reads the next event; `nil` after the end of the root and of the comments and white space that follow it.
    ///
    /// - Throws: after the first error, the same error again.
    package mutating func next() throws(XMLError) -> Event? {
        if let failure { throw failure }
        do throws(XMLError) {
            return try advance()
        } catch {
            failure = error
            throw error
        }
    }

    private mutating func advance() throws(XMLError) -> Event? {
        if isEmptyElement {
            isEmptyElement = false
            return closeElement()
        }
        while true {
            if open.isEmpty {
                scanner.skipWhitespace()
                if scanner.isAtEnd, hasRoot { return nil }
            } else {
                let text = try scanner.text()
                if !text.isEmpty { return .text(text) }
            }
            let start = scanner.offset
            guard scanner.skip("<") else { throw XMLError(.syntax, at: start) }
            switch scanner.peek() {
            case UInt8(ascii: "/"): return try endTag()
            case UInt8(ascii: "?"): throw XMLError(.unsupported, at: start)
            case UInt8(ascii: "!"):
                guard scanner.skip("!--") else { throw XMLError(.unsupported, at: start) }
                try scanner.skipComment()
            default:
                // A second root.
                guard !(hasRoot && open.isEmpty) else { throw XMLError(.syntax, at: start) }
                return try startTag()
            }
        }
    }

    // MARK: Tags

    private mutating func startTag() throws(XMLError) -> Event {
        let outerPrefixes = prefixes.count
        let name = try scanner.qualifiedName()
        guard open.count < XMLLimits.depth else { throw XMLError(.limitExceeded, at: name.whole.lowerBound) }
        var attributes: [XMLName] = []
        while true {
            let isSeparated = scanner.skipWhitespace()
            if scanner.skip(">") { break }
            if scanner.skip("/") {
                try scanner.require(">")
                isEmptyElement = true
                break
            }
            guard isSeparated else { throw XMLError(.syntax, at: scanner.offset) }
            guard attributes.count < XMLLimits.attributes else { throw XMLError(.limitExceeded, at: scanner.offset) }
            attributes.append(try attribute(after: attributes))
        }
        // An attribute may declare a prefix that earlier attributes or the element's name use.
        try requireDeclared(name)
        for attribute in attributes where !isDeclaration(attribute) { try requireDeclared(attribute) }
        open.append(OpenElement(name: name, outerPrefixes: outerPrefixes))
        hasRoot = true
        return .start(scanner.text(of: name.local))
    }

    private mutating func attribute(after others: [XMLName]) throws(XMLError) -> XMLName {
        let name = try scanner.qualifiedName()
        guard !others.contains(where: { scanner.isEqual($0.whole, name.whole) }) else {
            throw XMLError(.syntax, at: name.whole.lowerBound)
        }
        scanner.skipWhitespace()
        try scanner.require("=")
        scanner.skipWhitespace()
        let value = try scanner.attributeValue()
        if isDeclaration(name) { try declare(name.local, value) }
        return name
    }

    /// Whether an attribute declares a prefix. A declaration of the default namespace does not.
    private func isDeclaration(_ attribute: XMLName) -> Bool {
        attribute.prefix.map { scanner.isEqual($0, "xmlns") } ?? false
    }

    /// Adds a prefix (Namespaces in XML 1.0, section 3). The namespace's name is ignored, but must not be empty.
    private mutating func declare(_ prefix: Range<Int>, _ namespace: Range<Int>) throws(XMLError) {
        guard !namespace.isEmpty, !scanner.isEqual(prefix, "xml"), !scanner.isEqual(prefix, "xmlns") else {
            throw XMLError(.syntax, at: prefix.lowerBound)
        }
        guard prefixes.count < XMLLimits.prefixes else { throw XMLError(.limitExceeded, at: prefix.lowerBound) }
        prefixes.append(prefix)
    }

    private func requireDeclared(_ name: XMLName) throws(XMLError) {
        guard let prefix = name.prefix, !scanner.isEqual(prefix, "xml") else { return }
        guard prefixes.contains(where: { scanner.isEqual($0, prefix) }) else {
            throw XMLError(.syntax, at: prefix.lowerBound)
        }
    }

    private mutating func endTag() throws(XMLError) -> Event? {
        let start = scanner.offset
        try scanner.require("/")
        let name = try scanner.qualifiedName()
        scanner.skipWhitespace()
        try scanner.require(">")
        guard let expected = open.last?.name, scanner.isEqual(expected.whole, name.whole) else {
            throw XMLError(.syntax, at: start)
        }
        return closeElement()
    }

    private mutating func closeElement() -> Event? {
        guard let element = open.popLast() else { return nil }
        prefixes.removeLast(prefixes.count - element.outerPrefixes)
        return .end(scanner.text(of: element.name.local))
    }

    // MARK: Declaration

    /// Skips a byte order mark and the XML declaration (XML 1.0, production 23), if present.
    private static func skipDeclaration(_ scanner: inout XMLScanner) throws(XMLError) {
        _ = scanner.skip("\u{FEFF}")
        let start = scanner.offset
        guard scanner.skip("<?xml") else { return }
        // A processing instruction with a longer name, such as `xml-stylesheet`.
        guard scanner.skipWhitespace() else { throw XMLError(.unsupported, at: start) }
        try require("version", ["1.0"], &scanner)
        var isSeparated = scanner.skipWhitespace()
        if isSeparated, scanner.peek() == UInt8(ascii: "e") {
            try require("encoding", ["UTF-8", "utf-8"], &scanner)
            isSeparated = scanner.skipWhitespace()
        }
        if isSeparated, scanner.peek() == UInt8(ascii: "s") {
            try require("standalone", ["yes", "no"], &scanner)
            scanner.skipWhitespace()
        }
        try scanner.require("?>")
    }

    private static func require(
        _ name: StaticString, _ values: [StaticString], _ scanner: inout XMLScanner
    ) throws(XMLError) {
        try scanner.require(name)
        scanner.skipWhitespace()
        try scanner.require("=")
        scanner.skipWhitespace()
        let value = try scanner.attributeValue()
        guard values.contains(where: { scanner.isEqual(value, $0) }) else {
            throw XMLError(.unsupported, at: value.lowerBound)
        }
    }
}
