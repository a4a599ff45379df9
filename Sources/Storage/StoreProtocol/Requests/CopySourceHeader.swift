import Basics
package import HTTPTypes

/// The source of CopyObject and UploadPartCopy, `/bucket/key`, percent-encoded, with its conditions.
package struct CopySourceHeader: Equatable, Sendable {
    package let bucket: String
    package let key: String
    /// The range of a part's source, inclusive; `nil` = all bytes.
    package let range: ClosedRange<Int64>?
    /// The fields `If-Match` and similar for the source.
    package let conditions: HTTPFields

    /// - Returns: `nil` if the request has no source.
    /// - Throws: `invalidArgument`, `noSuchVersion`.
    package init?(_ fields: HTTPFields, _ names: OptionNames) throws(StoreError) {
        guard let text = fields[names.copySource] else { return nil }
        let parts = text.split(separator: "?", maxSplits: 1)
        if parts.count > 1, !["versionId=null", "versionId="].contains(parts[1]) {
            throw StoreError(.noSuchVersion, "\(names.copySource): the store keeps no versions.")
        }
        guard let first = parts.first, let path = URLEncoding.decode(String(first)) else { throw Self.malformed(names) }
        let relative = path.utf8.first == UInt8(ascii: "/") ? Substring(path.utf8.dropFirst()) : path[...]
        guard let slash = relative.utf8.firstIndex(of: UInt8(ascii: "/")) else { throw Self.malformed(names) }
        bucket = String(relative[..<slash])
        key = String(relative[relative.utf8.index(after: slash)...])
        guard ObjectName.isBucket(bucket), !key.isEmpty else { throw Self.malformed(names) }
        try ObjectName.requireKey(key)
        range = try Self.range(fields[names.copySourceRange], names)
        var conditions: HTTPFields = [:]
        for name in ["if-match", "if-none-match", "if-modified-since", "if-unmodified-since"] {
            for value in fields.values(of: names.copyCondition + name) { conditions.append(name, value) }
        }
        self.conditions = conditions
    }

    private static func range(_ text: String?, _ names: OptionNames) throws(StoreError) -> ClosedRange<Int64>? {
        guard let text else { return nil }
        guard case .bounded(let first, let last) = ByteRange(text), last < .max else {
            throw StoreError(.invalidArgument, "\(names.copySourceRange) must be bytes=FIRST-LAST.")
        }
        return first...last
    }

    private static func malformed(_ names: OptionNames) -> StoreError {
        StoreError(.invalidArgument, "\(names.copySource) must be BUCKET/KEY, percent-encoded.")
    }
}
