package import Basics

/// A bucket under the name for clients: all keys of the store's own bucket, or those below a prefix.
package struct StoreBucket: Sendable, Hashable {
    package let name: String
    /// The bucket's name in the database.
    package let stored: String
    /// The prefix of each stored key of this bucket; empty for the store's own one.
    package let prefix: String

    package init(name: String, stored: String, prefix: String) {
        self.name = name
        self.stored = stored
        self.prefix = prefix
    }

    /// Returns the stored key of a client's key.
    package func stored(_ key: String) -> String { prefix + key }

    /// Returns the client's key of a stored key.
    package func external(_ key: String) -> String {
        guard !prefix.isEmpty, key.utf8.starts(with: prefix.utf8) else { return key }
        return String(decoding: key.utf8.dropFirst(prefix.utf8.count), as: UTF8.self)
    }
}

extension ObjectStore {
    /// Returns the buckets that a static key may access, sorted by name.
    package func buckets(of key: StaticKey) -> [StoreBucket] {
        let own = StoreBucket(name: key.bucket, stored: key.bucket, prefix: "")
        let others = configuration.buckets.filter(key.reaches)
        return ([own] + others).sorted { $0.name.utf8.lexicographicallyPrecedes($1.name.utf8) }
    }

    /// Returns the time when the gateway started with a bucket for the first time.
    package func firstUse(of bucket: StoreBucket) -> UnixTime {
        buckets.times[bucket.name] ?? UnixTime(seconds: 0)
    }

    /// Returns the bucket with that name if the key may access it.
    package func bucket(_ name: String, of key: StaticKey) -> StoreBucket? {
        if name == key.bucket { return StoreBucket(name: name, stored: name, prefix: "") }
        return buckets.byName[name].flatMap { key.reaches($0) ? $0 : nil }
    }
}

extension StaticKey {
    /// Whether the bucket has keys that the static key may access.
    fileprivate func reaches(_ bucket: StoreBucket) -> Bool {
        reaches(bucket.prefix) || prefix.utf8.starts(with: bucket.prefix.utf8)
    }
}
