extension Configuration {
    /// Sections whose keys take effect when the configuration is read again.
    private static let liveSections = ["log", "quota", "scrub"]

    /// Whether a change of `key` needs no restart.
    package static func takesEffect(_ key: String) -> Bool {
        liveSections.contains { key.hasPrefix("\($0).") }
    }

    /// What each key is, as it is shown.
    package var values: [String: String] {
        Dictionary(uniqueKeysWithValues: settings.map { ($0.key, $0.value) })
    }

    /// Sets in the running gateway what takes effect at once; to be called on the configuration that it was started with.
    package func take(_ fresh: Configuration) {
        uploads.quota = fresh.uploads.quota
        catalog.scrubRate = fresh.catalog.scrubRate
        catalog.scrubInterval = fresh.catalog.scrubInterval
    }
}
