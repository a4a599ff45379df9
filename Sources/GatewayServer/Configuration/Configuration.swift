import Basics
package import Capability
package import HTTPServer
package import HTTPTypes
package import Observability
package import RPC
package import Settings
package import Sockets
package import StoreProtocol

/// All settings, read at start. The order of precedence is command line, environment, file, defaults.
///
/// Each module reads its own sections. What is read here belongs to the process: its listeners, their certificates, and the rules
/// between them. The settings of capabilities are found by their type.
package struct Configuration: Sendable {
    /// The TLS files, and the listeners that use TLS.
    package struct TLS: Sendable {
        package var files: TLSCertificates.Files
        package var listeners: Set<ListenerName>
    }

    /// The addresses of the listeners that are enabled.
    package var listeners: [ListenerName: PeerAddress]
    /// The TLS settings; `nil` = cleartext everywhere.
    package var tls: TLS?
    package var rpc: RPCLimits
    /// The proxies whose `x-forwarded-for` is trusted.
    package var trustedProxies: TrustedProxies
    /// The web origins that may call the gateway; `nil` = none.
    package var crossOrigin: CrossOrigin?
    package var web: HTTPServerConfiguration
    package var ops: HTTPServerConfiguration
    package var log: LogConfiguration
    /// Disk space in bytes that is reserved for deletions on a full disk; 0 = none.
    package var reserveBytes: Int64
    /// The public address of the store; `nil` = its listener's address.
    package var publicEndpoint: StoreEndpoint?
    /// The addresses of other listeners for clients.
    package var publicAddresses: PublicAddresses
    /// Whether the gRPC listeners offer reflection; `nil` = those on loopback do.
    package var reflection: Bool?
    /// The settings of capabilities and of apps, by their types.
    private(set) var sections: [ObjectIdentifier: any Sendable] = [:]
    /// Every key, in the order in which it was read.
    package private(set) var settings: [ConfigurationSetting] = []

    /// Reads the sections of the process and of capabilities. With a fault among those of the reader, the values are of no use.
    ///
    /// - Parameter eventTypes: all types of events for webhooks.
    package init(_ settings: SettingsReader, _ kinds: [any CapabilitySettings.Type], eventTypes: [String]) {
        listeners = Self.listeners(settings)
        tls = Self.tls(settings, listeners)
        rpc = RPCLimits(settings)
        trustedProxies = TrustedProxies(settings)
        crossOrigin = CrossOrigin(settings.section("rpc"))
        web = HTTPServerConfiguration.web(settings, proxies: trustedProxies.ranges)
        ops = web.ops
        publicEndpoint = Self.publicEndpoint(settings)
        publicAddresses = PublicAddresses(settings)
        reserveBytes = settings.section("database").integer(
            "reserve_bytes", default: 32 << 20, in: 0...(1 << 40), unit: "bytes")
        log = LogConfiguration(settings)
        let section = settings.section("listeners")
        reflection = section.flag("reflection", standard: "on loopback only")
        let context = SettingsContext(
            listeners: listeners, securedListeners: tls?.listeners ?? [], eventTypes: eventTypes)
        for kind in kinds { sections[ObjectIdentifier(kind)] = kind.init(settings, context) }
        check(settings, allowsCleartext: section.flag("allow_cleartext", default: false))
    }

    /// The settings of this type, which were read or set before.
    package subscript<Section: Sendable>(_ kind: Section.Type) -> Section {
        get {
            guard let section = sections[ObjectIdentifier(kind)] as? Section else {
                preconditionFailure("\(kind) is not read by any capability")
            }
            return section
        }
        set { sections[ObjectIdentifier(kind)] = newValue }
    }

    /// Refuses the keys that were not read, and records the others; called after all sections were read.
    package mutating func finish(_ settings: SettingsReader) {
        settings.finish()
        self.settings = settings.settings
    }

    package func address(_ name: ListenerName) -> PeerAddress { listeners[name] ?? .unknown }

    package func isSecure(_ name: ListenerName) -> Bool { tls?.listeners.contains(name) == true }

    private static func listeners(_ settings: SettingsReader) -> [ListenerName: PeerAddress] {
        var listeners: [ListenerName: PeerAddress] = [:]
        for name in ListenerName.allCases {
            let text = settings.section("listeners").text(
                name.settingName, default: name.standardAddress, unit: "HOST:PORT")
            if text == ListenerName.off { continue }
            listeners[name] = PeerAddress(text)
            guard listeners[name] == nil else { continue }
            settings.reject(name.key, "must be HOST:PORT (IPv6: [HOST]:PORT) or off, not \(text)")
            listeners[name] = PeerAddress(name.standardAddress)
        }
        return listeners
    }

    private static func publicEndpoint(_ settings: SettingsReader) -> StoreEndpoint? {
        let section = settings.section("object_store")
        let text = section.text("public_endpoint", default: "", unit: "URL", bounds: "`http[s]://HOST[:PORT]`")
        if text.isEmpty { return nil }
        do {
            return try StoreEndpoint(text)
        } catch {
            let key = section.key("public_endpoint")
            settings.report(ConfigurationError("\(key): \(error)", key: key))
            return nil
        }
    }
}

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
