/// What ListMultipartUploads is asked for; OSS and S3 spell it alike.
package struct MultipartListQuery: Equatable {
    package static let maximumLimit = 1000

    package private(set) var prefix: String
    /// Keys that share what stands before it, behind the prefix, are told as one; empty = none.
    package let delimiter: String
    /// The list begins behind this key, or, with an id, behind that upload of it.
    package private(set) var keyMarker: String
    package let idMarker: String
    /// Uploads and common prefixes; 1 to 1000.
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

    /// The same list of a bucket whose keys stand below `prefix` in another one.
    package func below(_ prefix: String) -> MultipartListQuery {
        var query = self
        query.prefix = prefix + self.prefix
        if !keyMarker.isEmpty { query.keyMarker = prefix + keyMarker }
        return query
    }
}
