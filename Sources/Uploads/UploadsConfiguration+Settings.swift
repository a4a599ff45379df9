package import Capability
package import Settings
import StoreProtocol

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
        quota = QuotaConfiguration(settings.section("quota"))
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
        quota = fresh.quota
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
