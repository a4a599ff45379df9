import Basics
import ObjectStore
import Settings
import StoreProtocol

extension UploadsConfiguration {
    /// Reads `object_store.static_keys`: the keys of operators' own tools for the bucket of uploads.
    func staticKeys(_ settings: SettingsReader) -> [StaticKey] {
        var ids: Set<String> = []
        return settings.section("object_store").elements("static_keys") { element in
            let key = staticKey(element)
            if let key, !ids.insert(key.id).inserted {
                element.reject("id", "must be unique, but another key has the same")
            }
            return key
        }
    }

    private func staticKey(_ settings: SettingsReader) -> StaticKey? {
        let id = settings.text("id", bounds: "3–128 letters, digits or `. _ -`")
        let secret = settings.secret(least: 16)
        let prefix = settings.text("prefix", default: "", unit: "prefix of keys")
        let access = settings.choice("access", as: StaticKey.Access.self)
        if let id, !(3...128).contains(id.utf8.count) || !id.utf8.allSatisfy(Self.isOfID) {
            settings.reject("id", "must be 3 to 128 letters, digits or . _ -")
        }
        if !prefix.isEmpty, !ObjectName.isPortableKey(prefix + "x") {
            settings.reject(
                "prefix", "must be a prefix of object keys: it must not begin with / or have the segments . and ..")
        }
        if access == .write, ObjectKey.isOfUpload(prefix) {
            settings.reject("prefix", "must not be below uploads/, because devices' uploads are read-only")
        }
        let organization = settings.text("organization", default: "")
        let quota = settings.integer("quota_bytes", default: Int64(0), in: 0...(1 << 60), unit: "bytes")
        let retention = settings.duration("retention_days", default: .zero, in: 0...36_500, unit: .days)
        guard let id, let secret, let access else { return nil }
        var key = StaticKey(id: id, secret: secret, bucket: bucket, prefix: prefix, access: access)
        key.organization = organization.isEmpty ? nil : organization
        key.quota = quota
        key.retention = retention == .zero ? nil : retention
        return key
    }

    private static func isOfID(_ byte: UInt8) -> Bool {
        byte.isASCIIAlphanumeric || "._-".utf8.contains(byte)
    }
}
