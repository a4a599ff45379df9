/// The parameters of ListMultipartUploads, which are the same in OSS and S3.
package struct MultipartListQuery: Equatable {
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
