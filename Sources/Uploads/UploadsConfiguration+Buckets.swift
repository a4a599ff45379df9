import ObjectStore
import Settings
import StoreProtocol

extension UploadsConfiguration {
    /// The number of buckets that one response of ListBuckets can contain.
    private static let mostBuckets = BucketListQuery.maximumLimit

    /// Reads `object_store.buckets`: buckets that are prefixes of the bucket of uploads.
    func buckets(_ settings: SettingsReader) -> [StoreBucket] {
        let store = settings.section("object_store")
        let buckets = store.named("buckets") { name, section in self.bucket(name, section) }
        if buckets.count > Self.mostBuckets {
            store.reject("buckets", "must have at most \(Self.mostBuckets) entries, not \(buckets.count)")
        }
        return buckets
    }

    private func bucket(_ name: String, _ settings: SettingsReader) -> StoreBucket? {
        guard ObjectName.isBucket(name), name != bucket else {
            settings.report(
                ConfigurationError(
                    "\(settings.place): a bucket's name must be 3 to 63 lower-case letters, digits, - or . as S3 requires, and not \(bucket)",
                    key: settings.place))
            return nil
        }
        let prefix = settings.text(
            "prefix", default: "\(name)/", unit: "prefix of keys", bounds: "ends with `/`, not below `uploads/`")
        if !prefix.hasSuffix("/") || !ObjectName.isPortableKey(prefix + "x") || ObjectKey.isOfUpload(prefix) {
            settings.reject(
                "prefix", "must be a prefix of object keys that ends with / and is not below uploads/")
        }
        return StoreBucket(name: name, stored: bucket, prefix: prefix)
    }
}
