import Catalog
import Settings
import Uploads

extension Configuration {
    /// The sections whose keys take effect when the configuration is reloaded.
    private static let liveSections = ["log", "quota", "scrub"]

    /// Whether a change of `key` takes effect without a restart.
    package static func takesEffect(_ key: String) -> Bool {
        liveSections.contains { key.hasPrefix("\($0).") }
    }

    /// The value of each key, for display.
    package var values: [String: String] {
        Dictionary(uniqueKeysWithValues: settings.map { ($0.key, $0.value) })
    }

    /// Applies the settings that take effect at once to the running gateway; called on the configuration that it was started with.
    package func take(_ fresh: Configuration) {
        uploads.quota = fresh.uploads.quota
        catalog.scrubRate = fresh.catalog.scrubRate
        catalog.scrubInterval = fresh.catalog.scrubInterval
    }
}
