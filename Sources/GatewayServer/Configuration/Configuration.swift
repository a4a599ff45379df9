package import Accounts
package import Backup
package import Basics
package import Capability
package import Catalog
package import Console
package import CopyJobs
package import DeviceInit
package import HTTPServer
package import HTTPTypes
package import Identity
package import ObjectStore
package import Observability
package import RPC
package import Settings
package import Sockets
package import StoreProtocol
package import StoreServer
package import Uploads
package import Webhooks

/// All settings, read at start. The order of precedence is command line, environment, file, defaults.
///
/// Each module reads its own sections. What is read here belongs to the process: its listeners, their certificates, and rules
/// between sections.
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
    /// The console's settings; `nil` = no console.
    package var console: ConsoleConfiguration?
    package var accounts: AccountsConfiguration
    package var uploads: UploadsConfiguration
    /// The files of the object store, its keys and its buckets.
    package var storage: ObjectStoreConfiguration
    /// The object store's clients.
    package var storeServer: StoreServerConfiguration
    package var deviceInit: DeviceInitConfiguration
    package var catalog: CatalogConfiguration
    package var internalStorage: InternalStorageConfiguration
    package var events: WebhooksConfiguration
    package var copies: CopyJobsConfiguration
    package var identity: IdentityConfiguration
    package var apps: AppsConfiguration
    /// The backups that the gateway takes by itself.
    package var backups: [BackupSchedule]
    package var log: LogConfiguration
    /// Disk space in bytes that is reserved for deletions on a full disk; 0 = none.
    package var reserveBytes: Int64
    /// The time for which a clock that stepped has to keep pace to be confirmed.
    package var clockConfirmation: Duration
    /// The public address of the store; `nil` = its listener's address.
    package var publicEndpoint: StoreEndpoint?
    /// Whether the gRPC listeners offer reflection; `nil` = those on loopback do.
    package var reflection: Bool?
    /// Every key, in the order in which it was read.
    package private(set) var settings: [ConfigurationSetting] = []

    /// - Parameters:
    ///   - variables: the environment.
    ///   - log: receives the warnings.
    /// - Throws: the first fault.
    package init(
        _ options: ServeOptions, variables: [String: String] = [:], log warnings: Logger = .discarding
    ) throws(ConfigurationError) {
        let reader = try SettingsReader(options, variables: variables, log: warnings)
        self.init(reader)
        if let fault = reader.faults.first { throw fault }
    }

    /// Reads all sections. With a fault among those of the reader, the values are of no use.
    init(_ settings: SettingsReader) {
        listeners = Self.listeners(settings)
        tls = Self.tls(settings, listeners)
        rpc = RPCLimits(settings)
        trustedProxies = TrustedProxies(settings)
        crossOrigin = CrossOrigin(settings.section("rpc"))
        web = HTTPServerConfiguration.web(settings, proxies: trustedProxies.ranges)
        ops = web.ops
        console = ConsoleConfiguration(settings, isOnLoopback: listeners[.web]?.isLoopback == true)
        accounts = AccountsConfiguration(settings)
        clockConfirmation = settings.section("clock").duration(
            "confirmation_hours", default: ClockGuard.defaultConfirmation, in: 1...720, unit: .hours)
        uploads = UploadsConfiguration(settings)
        storage = ObjectStoreConfiguration(settings)
        storeServer = StoreServerConfiguration(settings)
        publicEndpoint = Self.publicEndpoint(settings)
        reserveBytes = settings.section("database").integer(
            "reserve_bytes", default: 32 << 20, in: 0...(1 << 40), unit: "bytes")
        deviceInit = DeviceInitConfiguration(settings)
        catalog = CatalogConfiguration(settings)
        internalStorage = InternalStorageConfiguration(settings)
        events = WebhooksConfiguration(settings, types: EventType.gateway + AppsConfiguration.eventTypes)
        storage.buckets = uploads.buckets(settings)
        storage.staticKeys = uploads.staticKeys(settings)
        copies = CopyJobsConfiguration(settings)
        identity = IdentityConfiguration(settings)
        apps = AppsConfiguration(settings, web, isOnLoopback: listeners[.apps]?.isLoopback == true)
        backups = BackupSchedule.all(settings)
        log = LogConfiguration(settings)
        let section = settings.section("listeners")
        reflection = section.flag("reflection", standard: "on loopback only")
        let allowsCleartext = section.flag("allow_cleartext", default: false)
        settings.finish()
        self.settings = settings.settings
        connect()
        check(settings, allowsCleartext: allowsCleartext)
    }

    package func address(_ name: ListenerName) -> PeerAddress { listeners[name] ?? .unknown }

    package func isSecure(_ name: ListenerName) -> Bool { tls?.listeners.contains(name) == true }

    /// Returns the limits of one listener. They are higher for the internal one, whose clients are trusted programs that read large
    /// responses in parallel.
    package func rpcLimits(of name: ListenerName) -> RPCLimits {
        var limits = rpc
        if name == .internalStorage {
            limits.maxResponseBytes = max(limits.maxResponseBytes, 16 * Int(internalStorage.maximumReadBytes))
            limits.maxResponseBytesPerAddress = limits.maxResponseBytes
        }
        return limits
    }

    /// Sets what follows from other sections.
    private mutating func connect() {
        catalog.deletedRetention = uploads.recordRetention
        // So that the files of a session begun under this configuration are not removed early.
        storage.orphanAge = max(storage.orphanAge, uploads.sessionTotal + uploads.wholeObjectGrace)
        let isWebSecure = isSecure(.web)
        console?.publicURL = identity.publicURL
        console?.isSecure = isWebSecure
    }

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

extension SettingsReader {
    /// - Parameter log: receives the warnings.
    init(
        _ options: ServeOptions, variables: [String: String], log: Logger = .discarding
    ) throws(ConfigurationError) {
        try self.init(path: options.configurationPath, variables: variables, options: options.settings, log: log)
    }
}
