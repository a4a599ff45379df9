import Basics
import ObjectStore
import StoreProtocol
import Uploads

extension Configuration {
    /// Reads `object_store.static_keys`: the store's keys for operators' own tools.
    static func staticKeys(
        _ reader: inout ConfigurationReader, bucket: String
    ) throws(ConfigurationError) -> [StaticKey] {
        var keys: [StaticKey] = []
        for var entry in try reader.entries("object_store.static_keys") {
            var key = StaticKey(
                id: try entry.text("id"), secret: try entry.secretSource().secret(least: 16), bucket: bucket,
                prefix: try entry.text("prefix", default: ""), access: try entry.choice("access"))
            guard (3...128).contains(key.id.utf8.count), key.id.utf8.allSatisfy(isOfID) else {
                throw entry.wrong("id", "must be 3 to 128 letters, digits or . _ -")
            }
            guard !keys.contains(where: { $0.id == key.id }) else {
                throw entry.wrong("id", "must be unique, but another key has the same")
            }
            guard key.prefix.isEmpty || ObjectName.isPortableKey(key.prefix + "x") else {
                throw entry.wrong(
                    "prefix", "must be a prefix of object keys: it must not begin with / or have the segments . and ..")
            }
            guard key.access == .read || !ObjectKey.isOfUpload(key.prefix) else {
                throw entry.wrong("prefix", "must not be below uploads/, because devices' uploads are read-only")
            }
            let organization = try entry.text("organization", default: "")
            key.organization = organization.isEmpty ? nil : organization
            key.quota = try entry.integer("quota_bytes", default: 0, in: 0...(1 << 60), unit: "bytes")
            let days = try entry.integer("retention_days", default: 0, in: 0...36_500, unit: "days")
            key.retention = days == 0 ? nil : .days(days)
            try entry.finish()
            keys.append(key)
        }
        return keys
    }

    private static func isOfID(_ byte: UInt8) -> Bool {
        byte.isASCIIAlphanumeric || "._-".utf8.contains(byte)
    }
}
