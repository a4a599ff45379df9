/// An element of a document that was read completely, such as an object store's response.
package struct XMLElement: Equatable, Sendable {
    /// The name without its prefix.
    package let name: String
    /// The element's own text, without whitespace at both ends.
    package private(set) var text = ""
    package private(set) var children: [XMLElement] = []

    package init(name: String, text: String = "", children: [XMLElement] = []) {
        self.name = name
        self.text = text
        self.children = children
    }

    /// The text of the first child with that name.
    package subscript(name: String) -> String? {
        children.first { $0.name == name }?.text
    }

    /// Reads a document.
    ///
    /// - Parameter maximumBytes: the largest accepted document; the tree may take twenty times as much memory.
    package init(parsing bytes: [UInt8], maximumBytes: Int) throws(XMLError) {
        var reader = try XMLReader(bytes, maximumBytes: maximumBytes)
        var root = XMLElement(name: "")
        var open: [XMLElement] = []
        while let event = try reader.next() {
            switch event {
            case .start(let name): open.append(XMLElement(name: name))
            case .text(let text):
                if let innermost = open.indices.last { open[innermost].text += text }
            case .end:
                guard var element = open.popLast() else { break }
                element.text = Self.trimmed(element.text)
                if let parent = open.indices.last { open[parent].children.append(element) } else { root = element }
            }
        }
        self = root
    }

    private static func trimmed(_ text: String) -> String {
        var scalars = text.unicodeScalars[...]
        while let first = scalars.first, isWhitespace(first) { scalars.removeFirst() }
        while let last = scalars.last, isWhitespace(last) { scalars.removeLast() }
        return String(scalars)
    }

    /// Whether the character is white space (XML 1.0, production 3).
    private static func isWhitespace(_ scalar: Unicode.Scalar) -> Bool {
        scalar == " " || scalar == "\t" || scalar == "\n" || scalar == "\r"
    }
}
