import Basics
import XML

/// The tags of an object in both protocols: at most ten, with distinct keys of 1 to 128 characters and values of at most 256 (S3's
/// "Categorizing your objects using tags").
package struct TagSet: Sendable, Equatable {
    static let maximumCount = 10
    static let longestKey = 128
    static let longestValue = 256
    /// The beginning of keys that S3 keeps for itself.
    private static let reserved = "aws:"
    /// The largest document, in bytes; ten tags need less.
    package static let maximumBytes = 64 << 10

    package private(set) var tags: [(key: String, value: String)] = []

    package init() {}

    /// Takes tags from another source, in any number.
    package init(_ tags: [String: String]) {
        self.tags = tags.sorted { $0.key < $1.key }.map { ($0.key, $0.value) }
    }

    /// Parses the field of a request: `key=value&key=value`, percent-encoded.
    package init(query: String) throws(StoreError) {
        guard let pairs = Self.pairs(query) else {
            throw StoreError(.invalidArgument, "The tags must be KEY=VALUE&KEY=VALUE, percent-encoded.")
        }
        for pair in pairs { try append(pair.key, pair.value) }
    }

    /// Parses what was stored, by this version or by one with other limits; text that is no list of tags has none.
    init(stored query: String) {
        tags = Self.pairs(query) ?? []
    }

    private static func pairs(_ query: String) -> [(key: String, value: String)]? {
        var pairs: [(key: String, value: String)] = []
        for pair in query.utf8.split(separator: UInt8(ascii: "&")) {
            let halves = Substring(pair).halves(atFirst: "=")
            guard let key = URLEncoding.decode(query: halves.first),
                let value = URLEncoding.decode(query: halves.second ?? "")
            else { return nil }
            pairs.append((key, value))
        }
        return pairs
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
        guard (1...Self.longestKey).contains(key.unicodeScalars.count) else {
            throw StoreError(.invalidTag, "The key of a tag must have 1 to \(Self.longestKey) characters.")
        }
        guard value.unicodeScalars.count <= Self.longestValue else {
            throw StoreError(.invalidTag, "The value of a tag must have at most \(Self.longestValue) characters.")
        }
        guard !key.lowercased().hasPrefix(Self.reserved) else {
            throw StoreError(.invalidTag, "The key of a tag must not begin with \(Self.reserved), which is reserved.")
        }
        guard !tags.contains(where: { $0.key.isExactly(key) }) else {
            throw StoreError(.invalidTag, "The keys of an object's tags must differ.")
        }
        guard tags.count < Self.maximumCount else {
            throw StoreError(.badRequest, "An object can have at most \(Self.maximumCount) tags.")
        }
        guard (key + value).unicodeScalars.allSatisfy({ $0.value >= 0x20 && $0.value != 0x7F }) else {
            throw StoreError(.invalidTag, "A tag must have no control characters.")
        }
        tags.append((key, value))
    }
}
