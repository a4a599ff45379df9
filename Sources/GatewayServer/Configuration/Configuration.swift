import Accounts
import Backup
import Basics
import Capability
import Catalog
import Console
import CopyJobs
import DeviceInit
import HTTPServer
import HTTPTypes
import Identity
import ObjectStore
import Observability
import RPC
import Sockets
import StoreProtocol
import StoreServer
import Uploads
import Webhooks

/// All settings, read at start. The order of precedence is command line, environment, file, defaults.
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
    package var accounts = AccountsConfiguration()
    package var identity = IdentityConfiguration()
    package var deviceInit = DeviceInitConfiguration()
    package var uploads: UploadsConfiguration
    package var catalog = CatalogConfiguration()
    package var internalStorage = InternalStorageConfiguration()
    package var events = WebhooksConfiguration()
    /// The PEM file of authorities whose certificates replace a token at the internal listener; `nil` = none.
    package var internalAuthorities: String?
    package var copies = CopyJobsConfiguration()
    /// The backups that the gateway takes by itself.
    package var backups: [BackupSchedule] = []
    package var store = ObjectStoreConfiguration()
    /// Disk space in bytes that is reserved for deletions on a full disk; 0 = none.
    package var reserveBytes: Int64 = 32 << 20
    package var objectStore = StoreServerConfiguration()
    package var log = LogConfiguration()
    /// The time for which a clock that stepped has to keep pace to be confirmed.
    package var clockConfirmation = ClockGuard.defaultConfirmation
    package var web = HTTPServerConfiguration()
    package var ops = HTTPServerConfiguration()
    package var apps = AppsConfiguration()
    /// The console's settings; `nil` = no console.
    package var console: ConsoleConfiguration?
    /// The public address of the store; `nil` = its listener's address.
    package var publicEndpoint: StoreEndpoint?
    /// Whether the gRPC listeners offer reflection; `nil` = those on loopback do.
    package var reflection: Bool?
    /// Every key, in the order in which it was read.
    package private(set) var settings: [ConfigurationSetting] = []

    /// - Parameters:
    ///   - variables: the environment.
    ///   - ignored: keys that count as not set.
    ///   - log: receives the warnings.
    package init(
        _ options: ServeOptions, variables: [String: String] = [:], ignoring ignored: Set<String> = [],
        log warnings: Logger = .discarding
    ) throws(ConfigurationError) {
        var reader = try ConfigurationReader(
            path: options.configurationPath, variables: variables, options: options.settings, ignoring: ignored,
            log: warnings)
        listeners = try Self.listeners(&reader)
        tls = try Self.tls(&reader, listeners)
        rpc = try Self.rpcLimits(&reader)
        trustedProxies = TrustedProxies(try reader.addressRanges("rpc.trusted_proxies"))
        crossOrigin = try Self.crossOrigin(&reader)
        web = try Self.web(&reader, trustedProxies)
        ops = Self.ops(web)
        console = try Self.console(&reader, isOnLoopback: listeners[.web]?.isLoopback == true)
        accounts.accessTokenLifetime = try reader.duration(
            "auth.access_token_lifetime_seconds", default: accounts.accessTokenLifetime, in: 1...86_400)
        try Self.audit(&reader, into: &accounts)
        clockConfirmation = try reader.duration(
            "clock.confirmation_hours", default: clockConfirmation, in: 1...720, unit: .hours)
        uploads = try Self.uploads(&reader)
        catalog.deletedRetention = uploads.recordRetention
        // So that the files of a session begun under this configuration are not removed early.
        store.orphanAge = max(store.orphanAge, uploads.sessionTotal + uploads.wholeObjectGrace)
        publicEndpoint = try Self.publicEndpoint(&reader)
        store.minimumFreeBytes = try reader.integer(
            "object_store.min_free_bytes", default: store.minimumFreeBytes, in: 0...(1 << 50), unit: "bytes")
        reserveBytes = try reader.integer(
            "database.reserve_bytes", default: reserveBytes, in: 0...(1 << 40), unit: "bytes")
        store.directIO = try reader.flag("object_store.direct_io", default: true) ? .probe : .off
        let isReinitSet = reader.contains("device_init.reinit")
        deviceInit.reinit = try reader.choice("device_init.reinit", default: ReinitPolicy.open)
        deviceInit.reinitAllow = try reader.addressRanges("device_init.reinit_allow", standard: "everywhere")
        catalog.longestDownloadLifetime = try reader.duration(
            "downloads.max_lifetime_seconds", default: catalog.longestDownloadLifetime, in: 900...604_800)
        catalog.scrubRate = try reader.integer(
            "scrub.bytes_per_second", default: catalog.scrubRate, in: 0...(1 << 40), unit: "bytes")
        catalog.scrubInterval = try reader.duration(
            "scrub.interval_seconds", default: catalog.scrubInterval, in: 1...34_560_000)
        try limitStore(&reader)
        try configureInternalStorage(&reader)
        events = try Self.events(&reader)
        store.buckets = try Self.buckets(&reader, stored: uploads.bucket)
        store.staticKeys = try Self.staticKeys(&reader, bucket: uploads.bucket)
        copies = try Self.copies(&reader)
        identity = try Self.identity(&reader)
        apps = try Self.apps(&reader, web, isOnLoopback: listeners[.apps]?.isLoopback == true)
        console?.publicURL = identity.publicURL
        let isWebSecure = isSecure(.web)
        console?.isSecure = isWebSecure
        backups = try Self.backups(&reader)
        log = try Self.log(&reader)
        reflection = try reader.flag("listeners.reflection", standard: "on loopback only")
        let allowsCleartext = try reader.flag("listeners.allow_cleartext", default: false)
        try reader.finish()
        settings = reader.settings
        // With a fault in the section, it is not known which listeners were to use TLS.
        let isTLSUnknown = ignored.contains { $0.hasPrefix("tls.") }
        try checkExposure(allowsCleartext: allowsCleartext || isTLSUnknown, isReinitSet: isReinitSet)
        try checkApps()
    }

    package func address(_ name: ListenerName) -> PeerAddress { listeners[name] ?? .unknown }

    package func isSecure(_ name: ListenerName) -> Bool { tls?.listeners.contains(name) == true }

    private static func listeners(
        _ reader: inout ConfigurationReader
    ) throws(ConfigurationError) -> [ListenerName: PeerAddress] {
        var listeners: [ListenerName: PeerAddress] = [:]
        for name in ListenerName.allCases {
            let text = try reader.text(name.key, default: name.standardAddress, unit: "HOST:PORT")
            if text == ListenerName.off { continue }
            guard let address = PeerAddress(text) else {
                throw reader.wrong(name.key, "must be HOST:PORT (IPv6: [HOST]:PORT) or off, not \(text)")
            }
            listeners[name] = address
        }
        return listeners
    }

    private static func uploads(
        _ reader: inout ConfigurationReader
    ) throws(ConfigurationError) -> UploadsConfiguration {
        var uploads = UploadsConfiguration()
        uploads.partSize = try reader.integer(
            "uploads.part_size_bytes", default: uploads.partSize, in: 65_536...5_368_709_120, unit: "bytes")
        guard uploads.partSize % 4096 == 0 else {
            throw reader.wrong("uploads.part_size_bytes", "must be a multiple of 4096")
        }
        uploads.credentialLifetime = try reader.duration(
            "uploads.credential_lifetime_seconds", default: uploads.credentialLifetime, in: 1...43_200)
        uploads.sessionIdle = try reader.duration(
            "uploads.session_idle_seconds", default: uploads.sessionIdle, in: 1...2_592_000)
        uploads.sessionTotal = try reader.duration(
            "uploads.session_total_seconds", default: uploads.sessionTotal, in: 1...34_560_000)
        uploads.recordRetention = try reader.duration(
            "uploads.record_retention_days", default: uploads.recordRetention, in: 400...36_500, unit: .days)
        uploads.callsPerMinute = Int(
            try reader.integer(
                "uploads.calls_per_minute", default: Int64(uploads.callsPerMinute), in: 0...1_000_000, unit: "calls"))
        uploads.quota.device = try quota(&reader, "device", uploads.quota.device)
        uploads.quota.site = try quota(&reader, "site", uploads.quota.site)
        uploads.bucket = try reader.text(
            "object_store.bucket", default: uploads.bucket, unit: "name", bounds: "3–63 of `a-z 0-9 -`")
        guard ObjectName.isBucketOfOSS(uploads.bucket) else {
            throw reader.wrong(
                "object_store.bucket", "must be 3 to 63 of a-z, 0-9 and hyphens, and not begin or end with a hyphen")
        }
        return uploads
    }

    /// Reads the limits for clients of the object store.
    private mutating func limitStore(_ reader: inout ConfigurationReader) throws(ConfigurationError) {
        store.bufferBytes = try reader.integer(
            "object_store.max_buffer_bytes", default: store.bufferBytes, in: (4 << 20)...(1 << 40), unit: "bytes")
        var daemon = HTTPServerConfiguration()
        daemon.maximumConnections = UInt32(
            clamping: try reader.integer(
                "object_store.max_connections", default: 256, in: 1...10_000, unit: "connections"))
        daemon.maximumConnectionsPerAddress = Int(
            try reader.integer(
                "object_store.max_connections_per_address", default: 192, in: 1...10_000, unit: "connections"))
        daemon.minimumRate = try reader.integer(
            "object_store.min_client_bytes_per_second", default: 1024, in: 0...(1 << 30), unit: "bytes")
        daemon.slowGrace = try reader.duration(
            "object_store.slow_client_grace_seconds", default: .seconds(30), in: 1...3600)
        daemon.headerTimeout = try reader.duration(
            "object_store.header_timeout_seconds", default: .seconds(10), in: 1...3600)
        objectStore.daemon = daemon
        objectStore.corsOrigins = try Self.corsOrigins(&reader)
        let skew = try reader.duration("object_store.max_clock_skew_seconds", default: .zero, in: 0...31_536_000)
        objectStore.maximumClockSkew = skew == .zero ? nil : skew
    }

    private static func log(_ reader: inout ConfigurationReader) throws(ConfigurationError) -> LogConfiguration {
        LogConfiguration(
            level: try reader.choice("log.level", default: LogLevel.info),
            format: try reader.choice("log.format", default: LogFormat.auto),
            access: try reader.flag("log.access", default: true))
    }

    /// - Parameter owner: the prefix of the keys.
    private static func quota(
        _ reader: inout ConfigurationReader, _ owner: String, _ standard: QuotaLimits
    ) throws(ConfigurationError) -> QuotaLimits {
        var limits = QuotaLimits()
        limits.bytes = try reader.integer(
            "quota.\(owner)_bytes", default: standard.bytes, in: 0...(1 << 60), unit: "bytes")
        limits.objects = try reader.integer(
            "quota.\(owner)_objects", default: standard.objects, in: 0...(1 << 50), unit: "objects")
        limits.uploads = try reader.integer(
            "quota.\(owner)_uploads", default: standard.uploads, in: 0...(1 << 50), unit: "uploads")
        return limits
    }

    private static func publicEndpoint(
        _ reader: inout ConfigurationReader
    ) throws(ConfigurationError) -> StoreEndpoint? {
        let text = try reader.text(
            "object_store.public_endpoint", default: "", unit: "URL", bounds: "`http[s]://HOST[:PORT]`")
        if text.isEmpty { return nil }
        do {
            return try StoreEndpoint(text)
        } catch {
            throw ConfigurationError("object_store.public_endpoint: \(error)", key: "object_store.public_endpoint")
        }
    }

    /// Requires explicit settings before secrets can be sent beyond this machine.
    private func checkExposure(allowsCleartext: Bool, isReinitSet: Bool) throws(ConfigurationError) {
        for (name, address) in listeners.sorted(by: { $0.key.rawValue < $1.key.rawValue })
        where !address.isLoopback && !allowsCleartext && !isSecure(name) {
            throw ConfigurationError(
                "the \(name.rawValue) listener \(address) is reachable from other machines and carries secrets:"
                    + " configure TLS (tls.certificate), listen on 127.0.0.1 behind a proxy with TLS,"
                    + " or set listeners.allow_cleartext to true", key: name.key)
        }
        if let address = listeners[.deviceInit], !address.isLoopback, !isReinitSet {
            throw ConfigurationError(
                "the device-init listener \(address) is reachable from other machines:"
                    + " set device_init.reinit (open or window) to define who may call ReinitDevice",
                key: ListenerName.deviceInit.key)
        }
        if let address = listeners[.objectStore], address.isWildcard, publicEndpoint == nil {
            throw ConfigurationError(
                "the object-store listener \(address) does not have a single address for clients:"
                    + " set object_store.public_endpoint, for example to http://192.0.2.7:\(address.port)",
                key: ListenerName.objectStore.key)
        }
        guard listeners[.objectStore] != nil || listeners[.gateway] == nil else {
            throw ConfigurationError(
                "listeners.object_store is off, but the gateway listener gives clients its address for uploads:"
                    + " set listeners.gateway to off, too", key: "listeners.object_store")
        }
        if let publicEndpoint, isSecure(.objectStore), !publicEndpoint.isSecure {
            throw ConfigurationError(
                "object_store.public_endpoint begins with http://, but the object-store listener uses TLS:"
                    + " begin it with https://, or remove object-store from tls.listeners",
                key: "object_store.public_endpoint")
        }
    }
}
