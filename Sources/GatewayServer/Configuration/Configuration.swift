import DeviceInit
import Network
import ObjectStore
import RPC

/// Everything that can be set, read once at start: the command line before the file before the defaults.
struct Configuration: Sendable {
    struct Auth: Sendable {
        /// Seconds that a device's or site's access token lives.
        var accessTokenLifetime: Int64
        /// Seconds that a user's access token lives.
        var userTokenLifetime: Int64
    }

    struct Uploads: Sendable {
        /// Bytes of a part; a multiple of 4096.
        var partSize: Int64
        /// Seconds that temporary credentials live.
        var credentialLifetime: Int64
        /// Seconds without activity after which an upload's session ends.
        var sessionIdle: Int64
        /// Seconds after which it ends in any case.
        var sessionTotal: Int64
    }

    struct Store: Sendable {
        var bucket: String
        /// Where clients reach the store; `nil` = where it listens.
        var publicEndpoint: StoreEndpoint?
    }

    var listeners: [ListenerName: PeerAddress]
    var auth: Auth
    var uploads: Uploads
    var store: Store
    var reinit: ReinitPolicy

    init(_ options: ServeOptions) throws(ConfigurationError) {
        var reader = try ConfigurationReader(path: options.configurationPath)
        listeners = try Self.listeners(&reader, options)
        auth = Auth(
            accessTokenLifetime: try reader.integer(
                "auth.access_token_lifetime_seconds", default: 900, in: 1...86_400, unit: "seconds"),
            userTokenLifetime: try reader.integer(
                "auth.user_token_lifetime_seconds", default: 900, in: 1...86_400, unit: "seconds"))
        uploads = try Self.uploads(&reader)
        store = Store(
            bucket: try Self.bucket(&reader), publicEndpoint: try Self.publicEndpoint(&reader))
        let isSet = reader.contains("device_init.reinit")
        reinit = try Self.reinit(&reader)
        let allowsCleartext = try reader.flag("listeners.allow_cleartext", default: false)
        try reader.finish()
        try checkExposure(allowsCleartext: allowsCleartext, isReinitSet: isSet)
    }

    func address(_ name: ListenerName) -> PeerAddress { listeners[name] ?? .unknown }

    private static func listeners(
        _ reader: inout ConfigurationReader, _ options: ServeOptions
    ) throws(ConfigurationError) -> [ListenerName: PeerAddress] {
        var listeners: [ListenerName: PeerAddress] = [:]
        for name in ListenerName.allCases {
            let key = "listeners.\(name.rawValue.replacing("-", with: "_"))"
            let fromFile = try reader.text(key, default: name.standardAddress)
            let text = options.listen[name.rawValue] ?? fromFile
            guard let address = PeerAddress(text) else {
                throw ConfigurationError(
                    "the \(name.rawValue) listener must be HOST:PORT (IPv6: [HOST]:PORT), not \(text)")
            }
            listeners[name] = address
        }
        return listeners
    }

    private static func uploads(_ reader: inout ConfigurationReader) throws(ConfigurationError) -> Uploads {
        let uploads = Uploads(
            partSize: try reader.integer(
                "uploads.part_size_bytes", default: 67_108_864, in: 65_536...5_368_709_120, unit: "bytes"),
            credentialLifetime: try reader.integer(
                "uploads.credential_lifetime_seconds", default: 3600, in: 1...43_200, unit: "seconds"),
            sessionIdle: try reader.integer(
                "uploads.session_idle_seconds", default: 86_400, in: 1...2_592_000, unit: "seconds"),
            sessionTotal: try reader.integer(
                "uploads.session_total_seconds", default: 604_800, in: 1...34_560_000, unit: "seconds"))
        guard uploads.partSize % 4096 == 0 else {
            throw ConfigurationError("uploads.part_size_bytes must be a multiple of 4096")
        }
        return uploads
    }

    private static func bucket(_ reader: inout ConfigurationReader) throws(ConfigurationError) -> String {
        let name = try reader.text("object_store.bucket", default: "data")
        guard ObjectName.isBucket(name) else {
            throw ConfigurationError(
                "object_store.bucket must be 3 to 63 of a-z, 0-9 and hyphens, neither first nor last a hyphen")
        }
        return name
    }

    private static func publicEndpoint(
        _ reader: inout ConfigurationReader
    ) throws(ConfigurationError) -> StoreEndpoint? {
        let text = try reader.text("object_store.public_endpoint", default: "")
        if text.isEmpty { return nil }
        do {
            return try StoreEndpoint(text)
        } catch {
            throw ConfigurationError("object_store.public_endpoint: \(error)")
        }
    }

    private static func reinit(_ reader: inout ConfigurationReader) throws(ConfigurationError) -> ReinitPolicy {
        let text = try reader.text("device_init.reinit", default: ReinitPolicy.open.rawValue)
        do {
            return try ReinitPolicy(configured: text)
        } catch {
            throw ConfigurationError("\(error)")
        }
    }

    /// What must be said in so many words before secrets travel beyond this machine.
    private func checkExposure(allowsCleartext: Bool, isReinitSet: Bool) throws(ConfigurationError) {
        for (name, address) in listeners.sorted(by: { $0.key.rawValue < $1.key.rawValue })
        where !address.isLoopback && !allowsCleartext {
            throw ConfigurationError(
                "the \(name.rawValue) listener \(address) is reachable from other machines, and what it carries is secret:"
                    + " listen on 127.0.0.1 behind a proxy with TLS, or set listeners.allow_cleartext to true")
        }
        if let address = listeners[.deviceInit], !address.isLoopback, !isReinitSet {
            throw ConfigurationError(
                "the device-init listener \(address) is reachable from other machines:"
                    + " say who may call ReinitDevice by device_init.reinit (open)")
        }
        if let address = listeners[.objectStore], address.isWildcard, store.publicEndpoint == nil {
            throw ConfigurationError(
                "the object-store listener \(address) has no one address that clients could be told:"
                    + " set object_store.public_endpoint, e.g. http://192.0.2.7:\(address.port)")
        }
    }
}

extension PeerAddress {
    var isLoopback: Bool { host == "localhost" || host == "::1" || host.hasPrefix("127.") }

    var isWildcard: Bool { host == "0.0.0.0" || host == "::" }
}
