import Basics

/// The parameters of ListBuckets: S3's `max-buckets`, `prefix`, `continuation-token` and `bucket-region`, and OSS's `max-keys`,
/// `prefix` and `marker`.
package struct BucketListQuery: Equatable {
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
