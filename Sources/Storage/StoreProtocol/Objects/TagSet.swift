import Basics
import XML

/// The tags of an object in both protocols: at most ten, with distinct keys (S3's "Categorizing objects using tags").
package struct TagSet: Sendable, Equatable {
    static let maximumCount = 10
    /// The largest document, in bytes; ten tags need less.
    package static let maximumBytes = 64 << 10

    package private(set) var tags: [(key: String, value: String)] = []

    package init() {}

    /// Takes tags from another source, in any number.
    package init(_ tags: [String: String]) {
        self.tags = tags.sorted { $0.key < $1.key }.map { ($0.key, $0.value) }
    }

    /// Parses `key=value&key=value`, percent-encoded.
    package init(query: String) throws(StoreError) {
        for pair in query.split(separator: "&") {
            let halves = pair.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
            let texts = halves.map { URLEncoding.decode(String($0).replacing("+", with: "%20")) }
            guard let key = texts[0], let value = texts.count > 1 ? texts[1] : "" else {
                throw Self.invalid("not encoded")
            }
            try append(key, value)
        }
    }

    /// Parses the document of PutObjectTagging.
    package init(xml body: [UInt8]) throws(StoreError) {
        guard let pairs = try? Self.pairs(body) else { throw CompletionList.malformed }
        for pair in pairs { try append(pair.key, pair.value) }
    }

    /// - Returns: `nil` if the well-formed document is not a list of tags.
    private static func pairs(_ body: [UInt8]) throws(XMLError) -> [(key: String, value: String)]? {
        var reader = try XMLReader(body, maximumBytes: maximumBytes)
        var pairs: [(key: String, value: String)] = []
        var path: [String] = []
        var (key, value, text) = ("", "", "")
        while let event = try reader.next() {
            switch event {
            case .start(let name):
                path.append(name)
                text = ""
                guard path.count <= 4, path.first == "Tagging" else { return nil }
            case .text(let piece): text += piece
            case .end:
                switch path {
                case ["Tagging", "TagSet", "Tag", "Key"]: key = text
                case ["Tagging", "TagSet", "Tag", "Value"]: value = text
                case ["Tagging", "TagSet", "Tag"]:
                    pairs.append((key, value))
                    (key, value) = ("", "")
                default: break
                }
                path.removeLast()
                text = ""
            }
        }
        return pairs
    }

    package static func == (left: TagSet, right: TagSet) -> Bool {
        left.tags.elementsEqual(right.tags) { $0.key.isExactly($1.key) && $0.value.isExactly($1.value) }
    }

    package var isEmpty: Bool { tags.isEmpty }

    package var query: String {
        tags.map { "\(URLEncoding.encode($0.key))=\(URLEncoding.encode($0.value))" }.joined(separator: "&")
    }

    private mutating func append(_ key: String, _ value: String) throws(StoreError) {
        guard (1...512).contains(key.utf8.count), value.utf8.count <= 1024 else {
            throw Self.invalid("of 1 to 512 bytes, its value of at most 1024 bytes")
        }
        guard !tags.contains(where: { $0.key.isExactly(key) }) else { throw Self.invalid("given once") }
        guard tags.count < Self.maximumCount else {
            throw StoreError(.badRequest, "An object can have at most \(Self.maximumCount) tags.")
        }
        guard (key + value).unicodeScalars.allSatisfy({ $0.value >= 0x20 && $0.value != 0x7F }) else {
            throw Self.invalid("without control characters")
        }
        tags.append((key, value))
    }

    private static func invalid(_ rule: String) -> StoreError {
        StoreError(.invalidTag, "The key of a tag must be \(rule).")
    }
}
