import Foundation
import FoundationXML

/// The body of CompleteMultipartUpload: the parts that make the object, in the order in which they were listed.
struct CompletionList: Equatable {
    struct Part: Equatable {
        let number: Int
        /// As it was sent, unescaped; compare it by ``ETag/matches(_:_:)``.
        let etag: String
        /// In base64; S3's clients name one.
        var checksums: [ChecksumAlgorithm: String] = [:]
    }

    let parts: [Part]

    /// More bytes than 10,000 parts can need.
    static let maximumBytes = 4 << 20

    /// - Throws: `malformedXML`, also for a document type declaration: nothing is ever expanded or fetched.
    init(xml body: [UInt8]) throws(StoreError) {
        let malformed = StoreError(.malformedXML, "The XML you provided was not well-formed or did not validate.")
        guard body.count <= Self.maximumBytes, !Self.declares(body) else { throw malformed }
        let reader = Reader()
        let parser = XMLParser(data: Data(body))
        parser.delegate = reader
        guard parser.parse(), reader.isWellFormed, !reader.parts.isEmpty else { throw malformed }
        parts = reader.parts
    }

    private static func declares(_ body: [UInt8]) -> Bool {
        body.contains(bytes: "<!DOCTYPE") || body.contains(bytes: "<!ENTITY") || body.contains(0)
    }

    private final class Reader: NSObject, XMLParserDelegate {
        private(set) var parts: [Part] = []
        private var isMalformed = false
        private var path: [String] = []
        private var text = ""
        private var number: Int?
        private var etag: String?
        private var checksums: [ChecksumAlgorithm: String] = [:]

        /// The parser itself does not mind an element that is never closed.
        var isWellFormed: Bool { !isMalformed && path.isEmpty }

        func parser(
            _ parser: XMLParser, didStartElement name: String, namespaceURI: String?, qualifiedName: String?,
            attributes: [String: String]
        ) {
            path.append(name)
            text = ""
            if path.count > 3 || path.first != "CompleteMultipartUpload" {
                fail(parser)
            }
        }

        func parser(_ parser: XMLParser, foundCharacters characters: String) {
            text += characters
        }

        func parser(_ parser: XMLParser, didEndElement name: String, namespaceURI: String?, qualifiedName: String?) {
            switch path.dropFirst() {
            case ["Part", "PartNumber"]:
                number = Int(text.trimming(\.isWhitespace))
            case ["Part", "ETag"]:
                etag = text.trimming(\.isWhitespace)
            case ["Part"]:
                guard let number, let etag, (1...10_000).contains(number), parts.count < 10_000 else {
                    return fail(parser)
                }
                parts.append(Part(number: number, etag: etag, checksums: checksums))
                self.number = nil
                self.etag = nil
                checksums = [:]
            case ["Part", name] where name.hasPrefix("Checksum"):
                let algorithm = ChecksumAlgorithm(rawValue: String(name.dropFirst("Checksum".count)))
                if let algorithm { checksums[algorithm] = text.trimming(\.isWhitespace) }
            default:
                break
            }
            _ = path.popLast()
            text = ""
        }

        private func fail(_ parser: XMLParser) {
            isMalformed = true
            parser.abortParsing()
        }
    }
}
