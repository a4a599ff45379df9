package import Basics
package import HTTPClient
package import Settings
package import StoreClient
package import StoreProtocol

/// The engine that has the bytes of objects.
package enum ObjectEngineKind: String, Sendable, CaseIterable {
    /// Files in the data directory.
    case directory
    /// Objects in a bucket of an S3 store.
    case s3
}

/// The choice of the engine: the section `objects`.
package struct ObjectEngineSettings: Sendable {
    package let kind: ObjectEngineKind
    /// The engine that may have the bytes of objects still; `nil` = none.
    package let previous: ObjectEngineKind?
    private enum PreviousWord: String, CaseIterable {
        case none
        case directory
        case s3
    }

    /// The settings of the engine in a bucket; `nil` if it is not used, and after a fault.
    package let s3: S3EngineConfiguration?

    package init(_ settings: SettingsReader) {
        let section = settings.section("objects")
        kind = section.choice("engine", default: ObjectEngineKind.directory)
        let word = section.choice("previous_engine", default: PreviousWord.none)
        previous = ObjectEngineKind(rawValue: word.rawValue)
        if previous == kind {
            section.reject("previous_engine", "must be another engine than objects.engine: remove it")
        }
        let usesBucket = kind == .s3 || previous == .s3
        if !usesBucket {
            // Before the values are judged: each key has one fault.
            for name in S3EngineConfiguration.keys where section.contains(name) {
                section.reject(name, "is only for objects.engine \"s3\": remove it, or set the engine")
            }
        }
        let configuration = S3EngineConfiguration(section, isUsed: usesBucket)
        s3 = usesBucket ? configuration : nil
    }
}

/// The settings of an engine that keeps the bytes of objects in a bucket of an S3 store.
package struct S3EngineConfiguration: Sendable {
    /// The limits of time and number for requests.
    package struct Limits: Sendable, Equatable {
        /// The longest time to open a connection.
        package var connectTimeout = Duration.seconds(10)
        /// The longest time in which a request makes no progress.
        package var idleTimeout = Duration.seconds(30)
        /// The time after the first failure of a request in which it may be repeated. A streamed body is never sent again.
        package var retryBudget = Duration.seconds(60)
        /// The largest number of requests at a time.
        package var connections = 400

        package init() {}
    }

    /// The bodies that are received whole before they are sent to the store.
    package struct Spool: Sendable, Equatable {
        /// The rate in bytes a second below which a body is received first; 0 = none because of its rate.
        package var below: Int64 = 65_536
        /// The largest size of all these bodies together, in bytes.
        package var bytes: Int64 = 1 << 30

        package init() {}
    }

    package let bucket: S3Bucket
    /// The beginning of all keys: empty, or with a slash at its end and none at its beginning.
    package let prefix: String
    package var credentials = CredentialOrigin.automatic
    /// The address of the security token service for a web identity; `nil` = Amazon's.
    package var tokenService: StoreEndpoint?
    /// The PEM file of authorities for the store's certificate; `nil` = those that the system trusts.
    package var authorities: String?
    /// `nil` = the bucket's.
    package var storageClass: String?
    /// `nil` = the bucket's.
    package var encryption: S3Properties.Encryption?
    package var limits = Limits()
    package var spool = Spool()
    /// The longest time for which the removal of bytes waits for the end of downloads that read them.
    package var removalDelay = Duration.hours(1)
    /// The time between two sweeps of keys without rows.
    package var sweepInterval = Duration.days(1)

    /// - Parameter prefix: see the property.
    package init(_ bucket: S3Bucket, prefix: String = "") {
        self.bucket = bucket
        self.prefix = prefix
    }
}

// MARK: Reading

extension S3EngineConfiguration {
    /// The names of the keys that only this engine has.
    static let keys = [
        "endpoint", "region", "bucket", "prefix", "path_style", "authorities", "storage_class", "encryption", "kms_key",
        "credentials", "credentials_file", "profile", "sts_endpoint", "connect_timeout", "idle_timeout",
        "retry_budget", "max_connections", "spool_below", "spool_bytes", "removal_delay", "sweep_interval",
    ]

    /// The classes whose objects cannot be read at once.
    private static let archives: Set = ["GLACIER", "DEEP_ARCHIVE"]
    /// The longest prefix in bytes, so that with the rest of a key every store accepts it.
    private static let longestPrefix = 512

    /// The source of credentials in the configuration.
    private enum CredentialWord: String, CaseIterable {
        case auto
        case file
        case environment
        case webIdentity = "web_identity"
        case container
        case instance
    }

    private enum EncryptionWord: String, CaseIterable {
        case bucket
        case store
        case kms
    }

    /// Reads the keys; `nil` after a fault without which there is no engine, or if the engine is not used.
    ///
    /// - Parameter isUsed: whether required keys must be set.
    init?(_ settings: SettingsReader, isUsed: Bool) {
        let endpoint = Self.endpoint(settings, isRequired: isUsed)
        let region = settings.text("region", default: "us-east-1")
        if !Self.isWord(region) { settings.reject("region", "must be 1 to 64 letters, digits, - or _") }
        let name = settings.text("bucket", default: "", unit: "name", bounds: "required for `s3`")
        if name.isEmpty {
            if isUsed { settings.reject("bucket", "is required for objects.engine \"s3\"") }
        } else {
            settings.checkBucket(name)
        }
        let prefix = Self.prefix(settings)
        let hasPathStyle = settings.flag("path_style", default: true)
        let place = endpoint.map {
            S3Bucket(endpoint: $0, region: region, name: name, style: hasPathStyle ? .path : .virtualHost)
        }
        self.init(
            place ?? S3Bucket(endpoint: Self.placeholder, region: region, name: name), prefix: prefix)
        readTransport(settings, endpoint)
        readProperties(settings)
        readCredentials(settings)
        readLimits(settings)
        guard let place, isUsed, !name.isEmpty else { return nil }
        Self.checkStyle(settings, place)
    }

    /// An endpoint in place of one that is missing, while the other keys are read.
    private static let placeholder: StoreEndpoint = {
        guard let endpoint = try? StoreEndpoint("http://object-store.invalid") else {
            preconditionFailure("the endpoint is valid")
        }
        return endpoint
    }()

    private static func endpoint(_ settings: SettingsReader, isRequired: Bool) -> StoreEndpoint? {
        let text = settings.text("endpoint", default: "", unit: "URL", bounds: SettingsReader.endpointBounds)
        guard text.isEmpty else { return settings.endpoint(text) }
        if isRequired { settings.reject("endpoint", "is required for objects.engine \"s3\"") }
        return nil
    }

    private static func prefix(_ settings: SettingsReader) -> String {
        let text = settings.text("prefix", default: "", unit: "prefix of keys")
        let bare = text.trimming { $0 == "/" }
        guard !bare.isEmpty else { return "" }
        guard bare.utf8.count < longestPrefix, ObjectName.isPortableKey(bare), !bare.utf8.contains("//".utf8) else {
            settings.reject(
                "prefix",
                "must be at most \(longestPrefix) bytes without \"..\", \".\" and empty names between slashes, "
                    + "backslashes and control characters")
            return ""
        }
        return bare + "/"
    }

    private static func checkStyle(_ settings: SettingsReader, _ bucket: S3Bucket) {
        guard bucket.style == .virtualHost else { return }
        if bucket.endpoint.host.utf8.allSatisfy({ $0.isASCIIDigit || $0 == UInt8(ascii: ".") }) {
            settings.reject("path_style", "must be true: a bucket's name cannot be in front of an address")
        } else if bucket.endpoint.isSecure, bucket.name.contains(".") {
            settings.reject("path_style", "must be true: no certificate is for the host of a bucket with dots")
        }
    }

    private mutating func readTransport(_ settings: SettingsReader, _ endpoint: StoreEndpoint?) {
        let path = settings.text("authorities", default: "", unit: "PEM file")
        authorities = path.isEmpty ? nil : path
        if !path.isEmpty, endpoint?.isSecure == false {
            settings.reject("authorities", "is only for an https endpoint")
        }
    }

    private mutating func readProperties(_ settings: SettingsReader) {
        let name = settings.text("storage_class", default: "", unit: "name", bounds: "whose objects are read at once")
        storageClass = name.isEmpty ? nil : name
        if !name.isEmpty, !Self.isWord(name) {
            settings.reject("storage_class", "must be 1 to 64 letters, digits, - or _")
        } else if Self.archives.contains(name) {
            settings.reject("storage_class", "must be a class whose objects are read at once, not \(name)")
        }
        let kind = settings.choice("encryption", default: EncryptionWord.bucket)
        let key = settings.text("kms_key", default: "", bounds: "only with `encryption` `kms`")
        if !key.isEmpty {
            if kind != .kms { settings.reject("kms_key", "is only for objects.encryption \"kms\"") }
            if !(key.utf8.count <= 2048 && key.utf8.allSatisfy(\.isASCIIVisible)) {
                settings.reject("kms_key", "must be at most 2048 printable characters without spaces")
            }
        }
        encryption =
            switch kind {
            case .bucket: nil
            case .store: .store
            case .kms: .keyManagement(keyID: key.isEmpty ? nil : key)
            }
    }

    private mutating func readCredentials(_ settings: SettingsReader) {
        let word = settings.choice("credentials", default: CredentialWord.auto)
        let path = settings.text("credentials_file", default: "", unit: "path", bounds: "absolute")
        let profile = settings.text("profile", default: "default", unit: "name")
        if !path.isEmpty {
            if word != .auto, word != .file {
                settings.reject("credentials_file", "is only for objects.credentials \"file\"")
            }
            if !path.hasPrefix("/") { settings.reject("credentials_file", "must be an absolute path") }
        } else {
            if word == .file {
                settings.reject("credentials_file", "is required for objects.credentials \"file\"")
            }
            if settings.contains("profile") { settings.reject("profile", "is only for objects.credentials_file") }
        }
        if profile.isEmpty || profile.contains("]") || profile.hasControlCharacter() {
            settings.reject("profile", "must be a name of the credentials file, without brackets")
        }
        readTokenService(settings, word)
        credentials =
            switch word {
            case .auto: path.isEmpty ? .automatic : .file(path: path, profile: profile)
            case .file: .file(path: path, profile: profile)
            case .environment: .environment
            case .webIdentity: .webIdentity
            case .container: .container
            case .instance: .instance
            }
    }

    private mutating func readTokenService(_ settings: SettingsReader, _ word: CredentialWord) {
        let address = settings.text("sts_endpoint", default: "", unit: "URL", bounds: SettingsReader.endpointBounds)
        guard !address.isEmpty else { return }
        if word != .webIdentity {
            settings.reject("sts_endpoint", "is only for objects.credentials \"web_identity\"")
        }
        do {
            tokenService = try StoreEndpoint(address)
        } catch {
            settings.reject("sts_endpoint", "must be http[s]://HOST[:PORT]")
        }
    }

    private mutating func readLimits(_ settings: SettingsReader) {
        limits.connectTimeout = settings.duration("connect_timeout", default: limits.connectTimeout, in: 1...300)
        limits.idleTimeout = settings.duration("idle_timeout", default: limits.idleTimeout, in: 1...3600)
        limits.retryBudget = settings.duration("retry_budget", default: limits.retryBudget, in: 0...3600)
        limits.connections = settings.integer(
            "max_connections", default: limits.connections, in: 8...10_000, unit: "connections")
        spool.below = settings.integer(
            "spool_below", default: spool.below, in: 0...(1 << 30), unit: "bytes a second")
        spool.bytes = settings.integer(
            "spool_bytes", default: spool.bytes, in: (16 << 20)...(1 << 50), unit: "bytes")
        removalDelay = settings.duration("removal_delay", default: removalDelay, in: 0...2_592_000)
        sweepInterval = settings.duration("sweep_interval", default: sweepInterval, in: 60...2_592_000)
    }

    /// Whether a text may be a part of a signature's scope, and the value of a header field.
    private static func isWord(_ text: String) -> Bool {
        (1...64).contains(text.utf8.count)
            && text.utf8.allSatisfy { $0.isASCIIAlphanumeric || $0 == UInt8(ascii: "-") || $0 == UInt8(ascii: "_") }
    }
}

// MARK: Use

extension S3EngineConfiguration {
    /// The name of the bucket and the prefix for people.
    package var name: String { "\(bucket.endpoint.text)/\(bucket.name)/\(prefix)" }

    /// The properties of every object that the engine stores.
    package var properties: S3Properties {
        var properties = S3Properties()
        properties.storageClass = storageClass
        properties.encryption = encryption
        return properties
    }

    /// The repetition of requests whose bodies are in memory.
    package var retryPolicy: RetryPolicy {
        var policy = RetryPolicy(retryDuration: limits.retryBudget)
        policy.attempts = 1
        return policy
    }

    /// The options of the connections to the store.
    package var connectionOptions: HTTPConnection.Options {
        var options = HTTPConnection.Options(authorities: authorities)
        options.connectTimeout = limits.connectTimeout
        options.stallTimeout = limits.idleTimeout
        options.maximumExchanges = limits.connections
        return options
    }

    /// Makes the source of credentials, which all clients share.
    ///
    /// - Parameter variable: returns the value of a variable of the environment.
    /// - Throws: the reason why the environment has none.
    package func credentialSource(
        clock: any WallClock, variable: @escaping @Sendable (String) -> String?
    ) throws(CredentialProblem) -> any CredentialSource {
        let environment = CredentialEnvironment(region: bucket.region, tokenService: tokenService, variable: variable)
        return RenewedCredentials(try environment.loader(credentials), clock: clock)
    }

    /// Makes the client for objects.
    package func client(
        _ source: any CredentialSource, clock: any WallClock, observer: (any S3Observer)? = nil
    ) -> S3Client {
        S3Client(
            bucket, credentials: source, over: HTTPConnection(connectionOptions), clock: clock, observer: observer)
    }

    /// Makes the client for removals and facts, whose requests do not wait for transfers.
    func upkeepClient(
        _ source: any CredentialSource, clock: any WallClock, observer: (any S3Observer)? = nil
    ) -> S3Client {
        var options = connectionOptions
        options.maximumExchanges = 8
        return S3Client(
            bucket, credentials: source, over: HTTPConnection(options), clock: clock, observer: observer)
    }

    /// Makes a client with connections of its own and short timeouts, for the probe and for ``PrefixOwner``: transfers do not delay
    /// their requests, and a request ends long before the prefix may be taken over.
    package func controlClient(
        _ source: any CredentialSource, clock: any WallClock, observer: (any S3Observer)? = nil
    ) -> S3Client {
        var options = HTTPConnection.Options(authorities: authorities)
        options.connectTimeout = min(limits.connectTimeout, .seconds(5))
        options.stallTimeout = min(limits.idleTimeout, .seconds(8))
        options.totalTimeout = .seconds(10)
        options.maximumExchanges = 2
        return S3Client(
            bucket, credentials: source, over: HTTPConnection(options), clock: clock, observer: observer)
    }
}
