import Basics
import XML

/// The body of CompleteMultipartUpload: the parts of the object, in their listed order.
package struct CompletionList: Equatable {
    package struct Part: Equatable {
        package let number: Int
        /// The entity tag as sent, unescaped; compare it with ``ETag/matches(_:_:)``.
        package let etag: String
        /// The checksums in Base64; S3 clients send one.
        package var checksums: [ChecksumAlgorithm: String] = [:]
    }

    package let parts: [Part]

    /// A size above that of a document with 10,000 parts.
    package static let maximumBytes = 4 << 20

    /// - Throws: `malformedXML`, also if elements are nested deeper than in a valid document.
    package init(xml body: [UInt8]) throws(StoreError) {
        guard let parts = try? Self.parts(of: body), !parts.isEmpty else { throw Self.malformed }
        self.parts = parts
    }

    /// - Returns: the parts; `nil` if the document is well-formed but something else.
    private static func parts(of body: [UInt8]) throws(XMLError) -> [Part]? {
        var reader = try XMLReader(body, maximumBytes: maximumBytes)
        var list = Builder()
        while let event = try reader.next() {
            guard list.add(event) else { return nil }
        }
        return list.parts
    }

    package static let malformed = StoreError(
        .malformedXML, "The XML you provided was not well-formed or did not validate.")

    /// Collects the parts while a document is read. Unknown elements are ignored.
    private struct Builder {
        private(set) var parts: [Part] = []
        private var path: [String] = []
        private var text = ""
        private var number: Int?
        private var etag: String?
        private var checksums: [ChecksumAlgorithm: String] = [:]

        /// - Returns: whether the document may still be a list of parts.
        mutating func add(_ event: XMLReader.Event) -> Bool {
            switch event {
            case .start(let name):
                path.append(name)
                text = ""
                return path.count <= 3 && path.first == "CompleteMultipartUpload"
            case .text(let piece):
                text += piece
                return true
            case .end:
                defer {
                    _ = path.popLast()
                    text = ""
                }
                return end(path.dropFirst())
            }
        }

        private mutating func end(_ path: ArraySlice<String>) -> Bool {
            switch path {
            case ["Part", "PartNumber"]: number = Int(decimal: text.trimming(\.isWhitespace))
            case ["Part", "ETag"]: etag = text.trimming(\.isWhitespace)
            case ["Part"]:
                guard let number, let etag, (1...10_000).contains(number), parts.count < 10_000 else { return false }
                parts.append(Part(number: number, etag: etag, checksums: checksums))
                self.number = nil
                self.etag = nil
                checksums = [:]
            case _ where path.count == 2 && path.first == "Part":
                let algorithm = path.last.flatMap { name in
                    name.hasPrefix("Checksum")
                        ? ChecksumAlgorithm(rawValue: String(name.dropFirst("Checksum".count))) : nil
                }
                if let algorithm { checksums[algorithm] = text.trimming(\.isWhitespace) }
            default: break
            }
            return true
        }
    }
}
