package import Capability
package import Settings

extension CatalogConfiguration: CapabilitySettings {
    /// Reads the sections `downloads` and `scrub`.
    package init(_ settings: SettingsReader, _ context: SettingsContext) {
        self.init()
        longestDownloadLifetime = settings.section("downloads").duration(
            "max_lifetime_seconds", default: longestDownloadLifetime, in: 900...604_800)
        let scrub = settings.section("scrub")
        scrubRate = scrub.integer("bytes_per_second", default: scrubRate, in: 0...(1 << 40), unit: "bytes")
        scrubInterval = scrub.duration("interval_seconds", default: scrubInterval, in: 1...34_560_000)
    }

    package static var liveSections: [String] { ["scrub"] }

    package func take(_ fresh: Self) {
        scrubRate = fresh.scrubRate
        scrubInterval = fresh.scrubInterval
    }
}
