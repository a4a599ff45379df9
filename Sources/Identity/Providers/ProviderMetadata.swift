import Basics
import IdentityTokens
import JSON

/// The discovery document of a provider (OpenID Connect Discovery 1.0, section 3).
struct ProviderMetadata: Sendable {
    static let maximumBytes = 64 << 10

    let keysURL: String
    let authorizationEndpoint: String?
    let tokenEndpoint: String?
    /// The places in which the token endpoint accepts the client's secret.
    let secretPlaces: SecretPlaces
    /// Whether the provider names itself in each redirect (RFC 9207).
    let namesIssuer: Bool

    enum SecretPlaces {
        /// The Authorization field, which is the default (Discovery, section 3).
        case field
        case form
        case both
    }

    /// - Throws: ``ProviderFailure`` for a document of another issuer, or with URLs that are not acceptable.
    init(parsing bytes: [UInt8], issuer: String) throws(ProviderFailure) {
        guard let members = JSONValue(claims: bytes)?.members else {
            throw ProviderFailure("the discovery document is not a JSON object")
        }
        // Section 4.3: otherwise one provider could pass off another's endpoints.
        guard members["issuer"]?.stringValue?.isExactly(issuer) == true else {
            throw ProviderFailure(
                "the discovery document's issuer must be the configured one, not \(Self.shown(members["issuer"]))")
        }
        func url(_ name: String) throws(ProviderFailure) -> String? {
            guard let value = members[name] else { return nil }
            // A provider elsewhere does not reach the services of this machine through the gateway.
            guard let url = value.stringValue, ProviderURL.isAcceptable(url),
                url.hasPrefix("https:") || ProviderURL.isOnLoopback(issuer)
            else {
                throw ProviderFailure("\(name) of the discovery document must be an https URL")
            }
            return url
        }
        guard let keysURL = try url("jwks_uri") else { throw ProviderFailure("the discovery document has no jwks_uri") }
        self.keysURL = keysURL
        authorizationEndpoint = try url("authorization_endpoint")
        tokenEndpoint = try url("token_endpoint")
        let methods = members["token_endpoint_auth_methods_supported"]?.strings ?? []
        secretPlaces =
            switch (methods.contains("client_secret_post"), methods.contains("client_secret_basic")) {
            case (true, true): .both
            case (true, false): .form
            default: .field
            }
        namesIssuer = members["authorization_response_iss_parameter_supported"]?.flag == true
    }

    private static func shown(_ value: JSONValue?) -> String {
        value?.stringValue.map { "\"\($0.prefix(200))\"" } ?? "missing"
    }
}

/// The discovery document of one provider, read when it is needed and kept for an hour.
actor MetadataSource {
    private static let lifetime = Duration.hours(1)

    private let issuer: String
    private let transport: any ProviderTransport
    private let clock: any WallClock
    private var known: (metadata: ProviderMetadata, at: UnixTime)?
    private var reading: Task<Result<ProviderMetadata, ProviderFailure>, Never>?

    init(issuer: String, transport: any ProviderTransport, clock: any WallClock) {
        self.issuer = issuer
        self.transport = transport
        self.clock = clock
    }

    func metadata() async throws(ProviderFailure) -> ProviderMetadata {
        if let known, (Duration.zero..<Self.lifetime).contains(clock.now().duration(since: known.at)) {
            return known.metadata
        }
        let task = reading ?? Task { [issuer, transport] in await Self.read(issuer, transport) }
        reading = task
        let result = await task.value
        // Only the first of those that waited finds the task.
        if reading == task {
            reading = nil
            if case .success(let metadata) = result { known = (metadata, clock.now()) }
        }
        return try result.get()
    }

    private static func read(
        _ issuer: String, _ transport: any ProviderTransport
    ) async -> Result<ProviderMetadata, ProviderFailure> {
        do throws(ProviderFailure) {
            // Section 4: the issuer's last slash is left out.
            let base = issuer.hasSuffix("/") ? String(issuer.dropLast()) : issuer
            let document = try await transport.get(
                "\(base)/.well-known/openid-configuration", limit: ProviderMetadata.maximumBytes)
            return .success(try ProviderMetadata(parsing: document.body, issuer: issuer))
        } catch {
            return .failure(error)
        }
    }
}
