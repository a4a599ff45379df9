import Foundation
import FoundationXML

/// An element of an answer in XML: its text, or its children.
struct XMLNode: Equatable {
    let name: String
    var text = ""
    var children: [XMLNode] = []

    /// The text of the first child of that name.
    subscript(name: String) -> String? {
        children.first { $0.name == name }?.text
    }

    /// The root; `nil` for what is no XML, is nested deeper than any answer, or declares a document type.
    static func parse(_ bytes: [UInt8]) -> XMLNode? {
        guard !bytes.contains("<!DOCTYPE".utf8), !bytes.contains("<!ENTITY".utf8) else { return nil }
        let reader = Reader()
        let parser = XMLParser(data: Data(bytes))
        parser.delegate = reader
        return parser.parse() ? reader.root : nil
    }

    private final class Reader: NSObject, XMLParserDelegate {
        private static let maximumDepth = 8

        private(set) var root: XMLNode?
        private var open: [XMLNode] = []

        func parser(
            _ parser: XMLParser, didStartElement name: String, namespaceURI: String?, qualifiedName: String?,
            attributes: [String: String]
        ) {
            open.append(XMLNode(name: name))
            if open.count > Self.maximumDepth { parser.abortParsing() }
        }

        func parser(_ parser: XMLParser, foundCharacters characters: String) {
            guard !open.isEmpty else { return }
            open[open.count - 1].text += characters
        }

        func parser(_ parser: XMLParser, didEndElement name: String, namespaceURI: String?, qualifiedName: String?) {
            guard var node = open.popLast() else { return }
            node.text = node.text.trimmingCharacters(in: .whitespacesAndNewlines)
            if open.isEmpty { root = node } else { open[open.count - 1].children.append(node) }
        }
    }
}
