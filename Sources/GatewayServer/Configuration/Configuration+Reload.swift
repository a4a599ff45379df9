import Capability
import Settings

extension Configuration {
    /// The value of each key, for display.
    package var values: [String: String] {
        Dictionary(uniqueKeysWithValues: settings.map { ($0.key, $0.value) })
    }

    /// Whether a change of `key` takes effect without a restart.
    package func takesEffect(_ key: String) -> Bool {
        let live = ["log"] + capabilities.flatMap { type(of: $0).liveSections }
        return live.contains { key.hasPrefix("\($0).") }
    }

    /// Applies the settings that take effect at once to the running gateway; called on the configuration that it was started with.
    package func take(_ fresh: Configuration) {
        for settings in capabilities { settings.take(from: fresh) }
    }

    private var capabilities: [any CapabilitySettings] { sections.values.compactMap { $0 as? any CapabilitySettings } }
}

extension CapabilitySettings {
    fileprivate func take(from configuration: Configuration) { take(configuration[Self.self]) }
}
