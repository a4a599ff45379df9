import ObjectStore
import StoreProtocol
import Uploads

extension Configuration {
    /// The number of buckets that one response of ListBuckets can contain.
    private static let mostBuckets = BucketListQuery.maximumLimit

    /// Reads `object_store.buckets`: buckets that are prefixes of the store's own bucket.
    static func buckets(
        _ reader: inout ConfigurationReader, stored: String
    ) throws(ConfigurationError) -> [StoreBucket] {
        let section = "object_store.buckets"
        let names = try reader.names(in: section)
        guard names.count <= mostBuckets else {
            throw ConfigurationError("\(section) must have at most \(mostBuckets) entries, not \(names.count)")
        }
        var buckets: [StoreBucket] = []
        for name in names {
            guard ObjectName.isBucket(name), name != stored else {
                throw ConfigurationError(
                    "\(section).\(name): a bucket's name must be 3 to 63 lower-case letters, digits, - or . as S3 requires, and not \(stored)"
                )
            }
            let prefix = try reader.text("\(section).\(name).prefix", default: "\(name)/", unit: "prefix of keys")
            guard prefix.hasSuffix("/"), ObjectName.isPortableKey(prefix + "x"), !ObjectKey.isOfUpload(prefix) else {
                throw reader.wrong(
                    "\(section).\(name).prefix",
                    "must be a prefix of object keys that ends with / and is not below uploads/")
            }
            buckets.append(StoreBucket(name: name, stored: stored, prefix: prefix))
        }
        return buckets
    }

    /// Reads `object_store.cors_origins`: the origins whose scripts may use the store in a browser.
    static func corsOrigins(_ reader: inout ConfigurationReader) throws(ConfigurationError) -> [String] {
        let key = "object_store.cors_origins"
        let origins = try reader.list(key, bounds: "`https://HOST[:PORT]`, `*`") ?? []
        for origin in origins where origin != "*" {
            let rest = ["https://", "http://"].first(where: origin.hasPrefix).map { origin.dropFirst($0.count) }
            guard let rest, !rest.isEmpty, !rest.contains("/"), origin == origin.lowercased() else {
                throw reader.wrong(key, "must hold origins like https://viewer.example.com, in lower case, or *")
            }
        }
        return origins
    }
}
