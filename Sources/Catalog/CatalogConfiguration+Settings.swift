package import Settings

extension CatalogConfiguration {
    /// Reads the sections `downloads` and `scrub`.
    package init(_ settings: SettingsReader) {
        self.init()
        longestDownloadLifetime = settings.section("downloads").duration(
            "max_lifetime_seconds", default: longestDownloadLifetime, in: 900...604_800)
        let scrub = settings.section("scrub")
        scrubRate = scrub.integer("bytes_per_second", default: scrubRate, in: 0...(1 << 40), unit: "bytes")
        scrubInterval = scrub.duration("interval_seconds", default: scrubInterval, in: 1...34_560_000)
    }
}
