/// A bucket by the name that clients know: all keys of the store's own one, or those below a prefix.
package struct StoreBucket: Sendable, Hashable {
    package let name: String
    /// The bucket that rows have.
    package let stored: String
    /// What stands before each key of this bucket in the stored one; empty for that one itself.
    package let prefix: String

    package init(name: String, stored: String, prefix: String) {
        self.name = name
        self.stored = stored
        self.prefix = prefix
    }

    /// The stored key of one that a client names.
    package func stored(_ key: String) -> String { prefix + key }

    /// What a client knows a stored key as.
    package func external(_ key: String) -> String {
        guard !prefix.isEmpty, key.utf8.starts(with: prefix.utf8) else { return key }
        return String(decoding: key.utf8.dropFirst(prefix.utf8.count), as: UTF8.self)
    }
}

extension ObjectStore {
    /// The buckets that a static key reaches, in the order of their names.
    package func buckets(of key: StaticKey) -> [StoreBucket] {
        let own = StoreBucket(name: key.bucket, stored: key.bucket, prefix: "")
        let others = configuration.buckets.filter {
            key.reaches($0.prefix) || key.prefix.utf8.starts(with: $0.prefix.utf8)
        }
        return ([own] + others).sorted { $0.name < $1.name }
    }

    /// The bucket of that name, where the key reaches it.
    package func bucket(_ name: String, of key: StaticKey) -> StoreBucket? {
        if name == key.bucket { return StoreBucket(name: name, stored: name, prefix: "") }
        return buckets(of: key).first { $0.name == name }
    }
}
