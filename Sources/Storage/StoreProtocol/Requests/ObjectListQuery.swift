import Basics

/// The query of a list of a bucket's objects: ListObjects, ListObjectsV2 and ListObjectVersions, which are the same in OSS and S3.
package struct ObjectListQuery: Equatable, Sendable {
    package enum Form: Equatable, Sendable {
        case objects
        case objectsV2
        /// With the one version that an object has in a bucket without versions, whose id is `null`.
        case versions
    }

    /// The id of every object's version.
    package static let version = "null"
    package static let maximumLimit = 1000
    /// A suffix that sorts after every key with the same prefix.
    private static let last = "\u{10FFFF}"

    package let form: Form
    package private(set) var prefix: String
    /// The delimiter: keys with the same text between the prefix and the delimiter are listed as one; empty = none.
    package let delimiter: String
    /// The largest number of objects and common prefixes; 0 to 1000.
    package let limit: Int
    /// The text after which the list begins, as the client sent it.
    package private(set) var start: String
    /// The `start-after` of version 2, as sent; without effect beside a token.
    package let startAfter: String
    /// The continuation token of version 2, as sent.
    package let token: String?
    /// Whether keys are percent-encoded in the response.
    package let encodesKeys: Bool
    /// Whether each object is listed with its owner.
    package let namesOwners: Bool

    /// - Throws: `invalidArgument` for an invalid parameter.
    package init(_ target: RequestTarget, limit: Int) throws(StoreError) {
        form = try Self.form(target)
        prefix = target["prefix"] ?? ""
        delimiter = target["delimiter"] ?? ""
        encodesKeys = try Self.encodesKeys(target)
        namesOwners = form != .objectsV2 || target["fetch-owner"] == "true"
        self.limit = limit
        startAfter = form == .objectsV2 ? target["start-after"] ?? "" : ""
        token = form == .objectsV2 ? target["continuation-token"] : nil
        if let token, !token.isEmpty {
            guard let bytes = Base64.decodeURL(token), !bytes.contains(0),
                let start = String(validating: bytes, as: UTF8.self)
            else {
                throw StoreError(.invalidArgument, "The continuation token provided is incorrect.")
            }
            self.start = start
        } else {
            start = try Self.start(target, form)
        }
    }

    private static func form(_ target: RequestTarget) throws(StoreError) -> Form {
        if target.has("versions") { return .versions }
        switch target["list-type"] {
        case nil where !target.has("list-type"): return .objects
        case "2": return .objectsV2
        default: throw StoreError(.invalidArgument, "The list-type must be 2.")
        }
    }

    private static func start(_ target: RequestTarget, _ form: Form) throws(StoreError) -> String {
        switch form {
        case .objects: return target["marker"] ?? ""
        case .objectsV2: return target["start-after"] ?? ""
        case .versions:
            let (key, version) = (target["key-marker"] ?? "", target["version-id-marker"] ?? "")
            guard version.isEmpty || !key.isEmpty else {
                throw StoreError(.invalidArgument, "A version-id-marker must have a key-marker beside it.")
            }
            guard ["", Self.version].contains(version) else {
                throw StoreError(.invalidArgument, "The version-id-marker can only be null: objects have no versions.")
            }
            return key
        }
    }

    /// - Throws: `invalidArgument` for an `encoding-type` other than `url`.
    static func encodesKeys(_ target: RequestTarget) throws(StoreError) -> Bool {
        switch target["encoding-type"] {
        case nil where !target.has("encoding-type"), "": return false
        case "url": return true
        default: throw StoreError(.invalidArgument, "The encoding-type must be url.")
        }
    }

    /// Returns the token of the next page, if this one ends with `last`.
    package static func token(after last: String) -> String { Base64.encodeURL(Array(last.utf8)) }

    /// Returns the same query for a bucket whose keys are stored below `prefix` in another.
    package func below(_ prefix: String) -> ObjectListQuery {
        var query = self
        query.prefix = prefix + self.prefix
        if !start.isEmpty { query.start = prefix + start }
        return query
    }

    /// The upper bound of the list's keys, exclusive; compared by bytes.
    package var end: String { prefix + Self.last }

    /// The first key that the list may contain.
    package var first: String { start.isEmpty ? prefix : Self.later(prefix, next(after: start)) }

    /// Returns the first key that may come after `entry`, which is a key or a common prefix.
    package func next(after entry: String) -> String {
        // The first character that a key may have is U+0009, so nothing is between the two; U+0000 is no text in PostgreSQL.
        let isPrefix = commonPrefix(of: entry)?.isExactly(entry) == true
        return isPrefix ? entry + Self.last : entry + "\u{1}"
    }

    /// Returns the common prefix under which a key is listed; `nil` = the key itself is listed. Compares bytes, because a combining
    /// accent may hide a slash in Swift's characters.
    package func commonPrefix(of key: String) -> String? {
        let bytes = Array(key.utf8)
        guard !delimiter.isEmpty, bytes.starts(with: prefix.utf8),
            let found = bytes[prefix.utf8.count...].firstRange(of: Array(delimiter.utf8))
        else { return nil }
        return String(decoding: bytes[..<found.upperBound], as: UTF8.self)
    }

    private static func later(_ left: String, _ right: String) -> String {
        left.utf8.lexicographicallyPrecedes(right.utf8) ? right : left
    }
}

/// The parameters of ListMultipartUploads, which are the same in OSS and S3.
package struct MultipartListQuery: Equatable, Sendable {
    package static let maximumLimit = 1000

    package private(set) var prefix: String
    /// Keys with the same text up to it after the prefix are combined; empty = none.
    package let delimiter: String
    /// The list begins after this key, or, with an id, after that upload of the key.
    package private(set) var keyMarker: String
    package let idMarker: String
    /// The largest number of uploads and common prefixes; 0 to 1000.
    package let limit: Int
    package let encodesKeys: Bool

    /// - Throws: `invalidArgument`.
    package init(_ target: RequestTarget, limit: Int) throws(StoreError) {
        prefix = target["prefix"] ?? ""
        delimiter = target["delimiter"] ?? ""
        keyMarker = target["key-marker"] ?? ""
        idMarker = keyMarker.isEmpty ? "" : target["upload-id-marker"] ?? ""
        self.limit = limit
        encodesKeys = try ObjectListQuery.encodesKeys(target)
    }

    /// Returns the same query for a bucket whose keys are stored below `prefix` in another.
    package func below(_ prefix: String) -> MultipartListQuery {
        var query = self
        query.prefix = prefix + self.prefix
        if !keyMarker.isEmpty { query.keyMarker = prefix + keyMarker }
        return query
    }
}

/// The parameters of ListBuckets: S3's `max-buckets`, `prefix`, `continuation-token` and `bucket-region`, and OSS's `max-keys`,
/// `prefix` and `marker`.
package struct BucketListQuery: Equatable, Sendable {
    package static let maximumLimit = 10_000

    package let prefix: String
    /// The name after which the list begins; empty = at the first.
    package let start: String
    /// The largest number of buckets; 1 to 10,000.
    package let limit: Int
    /// The number that the client asked for; `nil` = all.
    package let requestedLimit: Int?
    /// The region of the buckets; `nil` = any.
    package let region: String?

    /// - Throws: `invalidArgument`.
    init(_ target: RequestTarget) throws(StoreError) {
        prefix = target["prefix"] ?? ""
        region = target["bucket-region"]
        requestedLimit = try Self.limit(target.has("max-buckets") ? "max-buckets" : "max-keys", target)
        limit = requestedLimit ?? Self.maximumLimit
        guard let token = target["continuation-token"], !token.isEmpty else {
            start = target["marker"] ?? ""
            return
        }
        guard let name = Base64.decodeURL(token).flatMap({ String(validating: $0, as: UTF8.self) }) else {
            throw StoreError(.invalidArgument, "The continuation token provided is incorrect.")
        }
        start = name
    }

    private static func limit(_ name: String, _ target: RequestTarget) throws(StoreError) -> Int? {
        guard target.has(name) else { return nil }
        guard let limit = target[name].flatMap({ Int(decimal: $0) }), (1...maximumLimit).contains(limit) else {
            throw StoreError(.invalidArgument, "The \(name) must be a number from 1 to \(maximumLimit).")
        }
        return limit
    }

    /// Returns the names of the page's buckets, and whether more follow.
    ///
    /// - Parameter names: all names, sorted by their bytes.
    package func page(of names: [String]) -> (names: [String], isTruncated: Bool) {
        let found = names.filter { name in
            name.utf8.starts(with: prefix.utf8) && start.utf8.lexicographicallyPrecedes(name.utf8)
        }
        return (Array(found.prefix(limit)), found.count > limit)
    }
}

/// The size of an entry of a list in XML, which is limited like the pages of other lists: 1,000 keys of 1 KiB can take 6 MiB.
package enum ListEntrySize {
    /// The largest size of an entry without its key: tags, times, ETag and owner.
    private static let rest = 512

    /// Returns the size in bytes that a key, escaped as the response requires, and the rest of its entry take at most.
    ///
    /// - Parameter encodesKey: whether the key is percent-encoded.
    package static func bytes(ofKey key: String, encodesKey: Bool) -> Int {
        if encodesKey { return rest + URLEncoding.encode(key, keepingSlashes: true).utf8.count }
        return key.utf8.reduce(rest) { $0 + bytes(of: $1) }
    }

    /// Returns the length of a byte of a text in XML: `&quot;` is the longest reference.
    private static func bytes(of byte: UInt8) -> Int {
        switch byte {
        case UInt8(ascii: "&"), UInt8(ascii: "<"), UInt8(ascii: ">"), UInt8(ascii: "\""), UInt8(ascii: "\r"): 6
        default: 1
        }
    }
}
