package import HTTPTypes
package import Settings

/// The settings of a capability, which reads its own sections of the configuration.
package protocol CapabilitySettings: Sendable {
    /// Reads the sections. A value that breaks its rule is reported to the reader.
    init(_ settings: SettingsReader, _ context: SettingsContext)

    /// The sections whose keys take effect when the configuration is reloaded; by default none.
    static var liveSections: [String] { get }

    /// Applies the values of ``liveSections`` to the running gateway; called on the settings that it was started with.
    func take(_ fresh: Self)
}

extension CapabilitySettings {
    package static var liveSections: [String] { [] }

    package func take(_ fresh: Self) {}
}

/// The facts on which the settings of capabilities depend besides their own keys.
package struct SettingsContext: Sendable {
    /// The addresses of the listeners that are enabled.
    package let listeners: [ListenerName: PeerAddress]
    /// The listeners that use TLS.
    package let securedListeners: Set<ListenerName>
    /// All types of events for webhooks.
    package let eventTypes: [String]

    package init(
        listeners: [ListenerName: PeerAddress], securedListeners: Set<ListenerName>, eventTypes: [String]
    ) {
        self.listeners = listeners
        self.securedListeners = securedListeners
        self.eventTypes = eventTypes
    }

    /// Whether a listener is enabled, and reachable from this machine only.
    package func isOnLoopback(_ name: ListenerName) -> Bool { listeners[name]?.isLoopback == true }
}
