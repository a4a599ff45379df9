/// Writer of a response in XML. In the responses that devices read, children are flat and, except `Part`, occur once each: a nested
/// or repeated child makes a deployed client discard the whole response.
package struct FlatXML {
    package struct Element: Equatable, Sendable {
        package let name: String
        package let text: String
        /// Child elements, instead of text.
        private let children: [Element]
        /// Attributes in the form of the start tag, e.g. `xsi:type="CanonicalUser"`.
        private let attributes: String

        package init(_ name: String, _ text: String) {
            self.name = name
            self.text = text
            children = []
            attributes = ""
        }

        /// - Parameter attributes: not escaped, so only for constants.
        package init(_ name: String, attributes: String = "", _ children: [Element]) {
            self.name = name
            text = ""
            self.children = children
            self.attributes = attributes.isEmpty ? "" : " " + attributes
        }

        fileprivate var markup: String {
            let content = children.isEmpty ? FlatXML.escape(text) : children.map(\.markup).joined()
            return "<\(name)\(attributes)>\(content)</\(name)>"
        }
    }

    private let root: String
    private let namespace: String?
    private var body = ""

    package init(_ root: String, namespace: String? = nil, _ elements: [Element] = []) {
        self.root = root
        self.namespace = namespace
        for element in elements {
            append(element)
        }
    }

    /// Makes a document that contains only text.
    package init(_ root: String, namespace: String? = nil, text: String) {
        self.root = root
        self.namespace = namespace
        body = Self.escape(text)
    }

    package mutating func append(_ element: Element) {
        body += element.markup
    }

    /// Appends an element with children of its own.
    package mutating func append(_ name: String, _ children: [Element]) {
        body += "<\(name)>" + children.map(\.markup).joined() + "</\(name)>"
    }

    package var bytes: [UInt8] {
        let start = root + (namespace.map { " xmlns=\"\($0)\"" } ?? "")
        return Array("<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<\(start)>\(body)</\(root)>\n".utf8)
    }

    /// Whether XML 1.0 has the character (production 2), which excludes most control characters.
    package static func isCharacter(_ scalar: Unicode.Scalar) -> Bool {
        switch scalar.value {
        case 0x09, 0x0A, 0x0D, 0x20...0xFFFD, 0x10000...: true
        default: false
        }
    }

    /// Escapes text for the content of an element. What XML cannot represent becomes the replacement character.
    package static func escape(_ text: String) -> String {
        var escaped = ""
        for scalar in text.unicodeScalars {
            switch scalar {
            case "&": escaped += "&amp;"
            case "<": escaped += "&lt;"
            case ">": escaped += "&gt;"
            case "\"": escaped += "&quot;"
            case "\r": escaped += "&#13;"
            case _ where !isCharacter(scalar): escaped.unicodeScalars.append("\u{FFFD}")
            default: escaped.unicodeScalars.append(scalar)
            }
        }
        return escaped
    }
}
