import Basics

/// What a list of a bucket's objects is asked for: ListObjects and ListObjectsV2, which OSS and S3 spell alike.
package struct ObjectListQuery: Equatable {
    package static let maximumLimit = 1000
    /// Behind every key that begins with what it is appended to.
    private static let last = "\u{10FFFF}"

    /// The value of `list-type`: 1 or 2.
    package let version: Int
    package private(set) var prefix: String
    /// Keys that share what stands before it, behind the prefix, are told as one; empty = none.
    package let delimiter: String
    /// Objects and common prefixes; 0 to 1000.
    package let limit: Int
    /// The list begins behind this, as the client said it.
    package private(set) var start: String
    /// The continuation token of version 2, as it was sent.
    package let token: String?
    /// Whether keys are percent-encoded in the answer.
    package let encodesKeys: Bool
    /// Whether each object is told with its owner.
    package let namesOwners: Bool

    /// - Throws: `invalidArgument`.
    package init(_ target: RequestTarget, limit: Int) throws(StoreError) {
        switch target["list-type"] {
        case nil where !target.has("list-type"): version = 1
        case "2": version = 2
        default: throw StoreError(.invalidArgument, "The list-type must be 2.")
        }
        prefix = target["prefix"] ?? ""
        delimiter = target["delimiter"] ?? ""
        encodesKeys = try Self.encodesKeys(target)
        namesOwners = version == 1 || target["fetch-owner"] == "true"
        self.limit = limit
        token = version == 2 ? target["continuation-token"].flatMap { $0.isEmpty ? nil : $0 } : nil
        if let token {
            guard let bytes = Base64.decodeURL(token), let start = String(validating: bytes, as: UTF8.self) else {
                throw StoreError(.invalidArgument, "The continuation token provided is incorrect.")
            }
            self.start = start
        } else {
            start = target[version == 2 ? "start-after" : "marker"] ?? ""
        }
    }

    /// - Throws: `invalidArgument` for another `encoding-type` than `url`.
    static func encodesKeys(_ target: RequestTarget) throws(StoreError) -> Bool {
        switch target["encoding-type"] {
        case nil where !target.has("encoding-type"), "": return false
        case "url": return true
        default: throw StoreError(.invalidArgument, "The encoding-type must be url.")
        }
    }

    /// What the token of the next page is, where this one ends with `last`.
    package static func token(after last: String) -> String { Base64.encodeURL(Array(last.utf8)) }

    /// The same list of a bucket whose keys stand below `prefix` in another one.
    package func below(_ prefix: String) -> ObjectListQuery {
        var query = self
        query.prefix = prefix + self.prefix
        if !start.isEmpty { query.start = prefix + start }
        return query
    }

    /// What the keys of the list are below, byte by byte.
    package var end: String { prefix + Self.last }

    /// The first key that the list may hold.
    package var first: String { start.isEmpty ? prefix : Self.later(prefix, next(after: start)) }

    /// The first key that may stand behind `entry`, which is a key or a common prefix.
    package func next(after entry: String) -> String {
        // No key has the character 0: nothing is between the two.
        let isPrefix = commonPrefix(of: entry).map { $0.utf8.elementsEqual(entry.utf8) } ?? false
        return isPrefix ? entry + Self.last : entry + "\u{0}"
    }

    /// What a key is told as; `nil` = as itself. By bytes: to Swift's characters a letter's accent may hide a slash.
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
