package import Basics
package import Capability
package import ObjectStore
package import Settings
import StoreProtocol

/// The settings of uploads: part size, lifetimes, and limits.
package struct UploadsConfiguration: Sendable {
    /// The size of a part in bytes: a multiple of 4096, at least 65,536.
    package var partSize: Int64 = 67_108_864
    /// The lifetime of temporary credentials. Clients fetch new ones 40 s before they expire.
    package var credentialLifetime = Duration.hours(1)
    /// The time without activity after which an upload's session ends.
    package var sessionIdle = Duration.days(1)
    /// The time after which a session ends in any case.
    package var sessionTotal = Duration.days(7)
    /// The time after its session's end for which a complete object of parts waits for its CompleteUpload before the sweep removes
    /// it, since all of its bytes are stored.
    package var wholeObjectGrace = Duration.days(7)
    /// The limit of calls a minute that begin, restart, abort or reissue an upload, for one device; ten times as many for a site's
    /// own keys. 0 = no limit.
    package var callsPerMinute = 1200
    /// The time for which an ended upload can be queried.
    package var recordRetention = Duration.days(400)
    package let quota = Live(QuotaConfiguration())
    /// The bucket of new uploads; `^[a-z0-9][a-z0-9-]{1,61}[a-z0-9]$`.
    package var bucket = "data"
    /// Buckets that are prefixes of ``bucket``.
    package var buckets: [StoreBucket] = []
    /// The keys of operators' own tools for ``bucket``.
    package var staticKeys: [StaticKey] = []
    /// The name of the store's protocol, which clients are told.
    package var backend = "oss"

    package init() {}
}

/// The error in a configuration of uploads.
package enum UploadsConfigurationError: Error, Sendable, CustomStringConvertible {
    case partSize(Int64)
    case bucket(String)

    package var description: String {
        switch self {
        case .partSize(let size): "the part size must be a multiple of 4096 and at least 65536 bytes, not \(size)"
        case .bucket(let name):
            "the bucket must be 3 to 63 of a-z, 0-9 and hyphens, and not begin or end with a hyphen, not \(name)"
        }
    }
}

extension UploadsConfiguration {
    func check() throws(UploadsConfigurationError) {
        guard partSize >= 65_536, partSize % 4096 == 0 else { throw .partSize(partSize) }
        guard ObjectName.isBucketOfOSS(bucket) else { throw .bucket(bucket) }
    }
}

extension UploadsConfiguration: CapabilitySettings {
    /// Reads the sections `uploads` and `quota`, and the keys of `object_store` about buckets and operators' own tools.
    package init(_ settings: SettingsReader, _ context: SettingsContext) {
        self.init()
        let section = settings.section("uploads")
        partSize = section.integer("part_size_bytes", default: partSize, in: 65_536...5_368_709_120, unit: "bytes")
        if partSize % 4096 != 0 { section.reject("part_size_bytes", "must be a multiple of 4096") }
        credentialLifetime = section.duration(
            "credential_lifetime_seconds", default: credentialLifetime, in: 1...43_200)
        sessionIdle = section.duration("session_idle_seconds", default: sessionIdle, in: 1...2_592_000)
        sessionTotal = section.duration("session_total_seconds", default: sessionTotal, in: 1...34_560_000)
        recordRetention = section.duration(
            "record_retention_days", default: recordRetention, in: 400...36_500, unit: .days)
        callsPerMinute = section.integer("calls_per_minute", default: callsPerMinute, in: 0...1_000_000, unit: "calls")
        quota.value = QuotaConfiguration(settings.section("quota"))
        let store = settings.section("object_store")
        bucket = store.text("bucket", default: bucket, unit: "name", bounds: "3–63 of `a-z 0-9 -`")
        if !ObjectName.isBucketOfOSS(bucket) {
            store.reject("bucket", "must be 3 to 63 of a-z, 0-9 and hyphens, and not begin or end with a hyphen")
        }
        buckets = self.buckets(settings)
        staticKeys = self.staticKeys(settings)
    }

    package static var liveSections: [String] { ["quota"] }

    package func take(_ fresh: Self) {
        quota.value = fresh.quota.value
    }
}

extension QuotaConfiguration {
    fileprivate init(_ section: SettingsReader) {
        self.init()
        device = QuotaLimits(section, "device", device)
        site = QuotaLimits(section, "site", site)
    }
}

extension QuotaLimits {
    /// - Parameter owner: the prefix of the keys.
    fileprivate init(_ section: SettingsReader, _ owner: String, _ standard: QuotaLimits) {
        self.init()
        bytes = section.integer("\(owner)_bytes", default: standard.bytes, in: 0...(1 << 60), unit: "bytes")
        objects = section.integer("\(owner)_objects", default: standard.objects, in: 0...(1 << 50), unit: "objects")
        uploads = section.integer("\(owner)_uploads", default: standard.uploads, in: 0...(1 << 50), unit: "uploads")
    }
}

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
