import XML

/// The body of CompleteMultipartUpload: the parts that make the object, in the order in which they were listed.
package struct CompletionList: Equatable {
    package struct Part: Equatable {
        package let number: Int
        /// The entity tag as it was sent, unescaped; compare it by ``ETag/matches(_:_:)``.
        package let etag: String
        /// In base64; S3's clients name one.
        package var checksums: [ChecksumAlgorithm: String] = [:]
    }

    package let parts: [Part]

    /// A size that the document of 10,000 parts does not reach.
    package static let maximumBytes = 4 << 20

    /// - Throws: `malformedXML`, also where elements are nested deeper than the document's own.
    package init(xml body: [UInt8]) throws(StoreError) {
        guard let parts = try? Self.parts(of: body), !parts.isEmpty else { throw Self.malformed }
        self.parts = parts
    }

    /// - Returns: the parts; `nil` where the document is well-formed and something else.
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

    /// The parts of a document while it is read. Elements that are not known count for nothing.
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
            case ["Part", "PartNumber"]: number = Int(text.trimming(\.isWhitespace))
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
