/// Writer of a response in XML. Its children are flat and, except `Part`, occur once each: a nested or repeated child makes a
/// deployed client discard the whole response.
package struct FlatXML {
    package struct Element: Equatable, Sendable {
        package let name: String
        package let text: String

        package init(_ name: String, _ text: String) {
            self.name = name
            self.text = text
        }

        fileprivate var markup: String { "<\(name)>\(FlatXML.escape(text))</\(name)>" }
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

    /// Escapes text for the content of an element.
    package static func escape(_ text: String) -> String {
        var escaped = ""
        for scalar in text.unicodeScalars {
            switch scalar {
            case "&": escaped += "&amp;"
            case "<": escaped += "&lt;"
            case ">": escaped += "&gt;"
            case "\"": escaped += "&quot;"
            case "\r": escaped += "&#13;"
            default: escaped.unicodeScalars.append(scalar)
            }
        }
        return escaped
    }
}
