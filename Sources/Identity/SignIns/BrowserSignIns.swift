import Basics
import Crypto
import GRPCWire
import GatewayFormats
import IdentityTokens
import JSON
import RPC

/// Sign-ins in a browser: the authorization code flow with a proof key (RFC 6749 section 4.1, RFC 7636, RFC 9700).
struct BrowserSignIns: Sendable {
    /// A sign-in that began.
    struct Begun: Sendable {
        let authorizationURL: String
        let flowSecret: String
        let nonce: String
    }

    /// The parameters with which a provider sent the browser back.
    struct Redirect: Sendable {
        let code: String
        let state: String
        /// The issuer by which the provider names itself; empty = it does not.
        let issuer: String
    }

    private static let longestCode = 4096
    private static let longestResponse = 64 << 10

    let flowKey: [UInt8]
    let nonces: NonceIssuer
    let configuration: IdentityConfiguration
    let clock: any WallClock
    let log: Logger

    /// - Parameter redirectURI: empty = the caller only needs a nonce.
    func begin(_ source: ProviderSource, redirectURI: String) async throws -> Begun {
        let provider = source.provider
        let now = clock.now()
        let nonce = nonces.make(for: provider.name, at: now)
        guard !redirectURI.isEmpty else { return Begun(authorizationURL: "", flowSecret: "", nonce: nonce) }
        try check(redirectURI)
        guard let client = provider.client, provider.people != nil else {
            throw RPCError.failedPrecondition("\(provider.name) has no client_id for sign-ins in a browser")
        }
        guard let endpoint = try await metadata(source).authorizationEndpoint else {
            throw unavailable(source, ProviderFailure("the discovery document has no authorization_endpoint"))
        }
        let secret = Base64.encodeURL(Random.bytes(32))
        let flow = SignInFlow(
            provider: provider.name, redirectURI: redirectURI, codeVerifier: Base64.encodeURL(Random.bytes(32)),
            nonce: nonce, clientDigest: Digest.sha256(Array(secret.utf8)),
            expiresAt: now.adding(configuration.signInTime))
        let query = URLEncoding.form([
            ("response_type", "code"), ("client_id", client.id), ("redirect_uri", redirectURI),
            ("scope", client.scopes.joined(separator: " ")), ("state", flow.sealed(flowKey)), ("nonce", nonce),
            ("code_challenge", flow.codeChallenge), ("code_challenge_method", "S256"),
        ])
        return Begun(
            authorizationURL: endpoint + (endpoint.contains("?") ? "&" : "?") + query, flowSecret: secret,
            nonce: nonce)
    }

    /// Returns the sign-in that a redirect belongs to.
    ///
    /// - Throws: AUTH_INVALID_CREDENTIAL unless the client that began it completes it in time.
    func flow(state: String, secret: String) throws(RPCError) -> SignInFlow {
        guard let flow = SignInFlow(sealed: state, key: flowKey),
            constantTimeEqual(flow.clientDigest, Digest.sha256(Array(secret.utf8)))
        else {
            throw RPCError(.authInvalidCredential, "this sign-in was begun elsewhere: begin it again")
        }
        guard clock.now() < flow.expiresAt else {
            throw RPCError(.authInvalidCredential, "this sign-in took too long: begin it again")
        }
        return flow
    }

    /// Exchanges the provider's code for the identity token.
    func identityToken(
        for redirect: Redirect, of flow: SignInFlow, _ source: ProviderSource
    ) async throws -> String {
        let code = redirect.code
        guard (1...Self.longestCode).contains(code.utf8.count) else {
            throw RPCError.invalidArgument("code must be 1 to \(Self.longestCode) bytes")
        }
        guard let client = source.provider.client else {
            throw RPCError.failedPrecondition("\(source.provider.name) has no client_id for sign-ins in a browser")
        }
        let metadata = try await metadata(source)
        try check(redirect, isOf: source.provider, metadata)
        guard let endpoint = metadata.tokenEndpoint else {
            throw unavailable(source, ProviderFailure("the discovery document has no token_endpoint"))
        }
        var form = [
            (name: "grant_type", value: "authorization_code"), (name: "code", value: code),
            (name: "redirect_uri", value: flow.redirectURI), (name: "code_verifier", value: flow.codeVerifier),
        ]
        var authorization: String?
        if let pair = client.basicPair(for: metadata.secretPlaces) {
            authorization = "Basic \(Base64.encode(Array(pair.utf8)))"
        } else {
            form.append(("client_id", client.id))
            if let secret = client.secret { form.append(("client_secret", secret.exposedText)) }
        }
        let response: (status: Int, body: [UInt8])
        do {
            response = try await source.transport.post(
                endpoint, form: form, authorization: authorization, limit: Self.longestResponse)
        } catch {
            throw unavailable(source, error)
        }
        return try token(in: response, of: source)
    }

    /// Checks who sent the browser back. A provider that sends the people of its sign-ins on to another one would else get the other
    /// provider's code from the gateway (RFC 9207, RFC 9700 section 4.4).
    private func check(
        _ redirect: Redirect, isOf provider: IdentityProvider, _ metadata: ProviderMetadata
    ) throws(RPCError) {
        guard !redirect.issuer.isEmpty || metadata.namesIssuer else { return }
        guard redirect.issuer.isExactly(provider.issuer) else {
            throw RPCError(
                .authInvalidCredential,
                "the browser did not come back from \(provider.name), where this sign-in was begun: begin it again")
        }
    }

    private func token(in response: (status: Int, body: [UInt8]), of source: ProviderSource) throws(RPCError) -> String
    {
        let members = JSONValue(claims: response.body)?.members
        switch response.status {
        case 200:
            guard let token = members?["id_token"]?.stringValue else {
                throw unavailable(source, ProviderFailure("the token endpoint's response has no id_token"))
            }
            return token
        case 400, 401, 403:
            // RFC 6749, section 5.2: a word such as invalid_grant.
            let reason = members?["error"]?.stringValue.flatMap(Self.errorWord) ?? "HTTP status \(response.status)"
            log.write(
                "an identity provider refused a sign-in's code",
                ["provider": source.provider.name, "error": reason], level: .warning)
            throw RPCError(.authInvalidCredential, "the identity provider refused the sign-in: \(reason)")
        default:
            throw unavailable(
                source, ProviderFailure("the token endpoint answered with HTTP status \(response.status)"))
        }
    }

    private static func errorWord(_ text: String) -> String? {
        (1...64).contains(text.utf8.count) && text.utf8.allSatisfy { $0.isASCIIAlphanumeric || $0 == 0x5F } ? text : nil
    }

    private func metadata(_ source: ProviderSource) async throws(RPCError) -> ProviderMetadata {
        do {
            return try await source.metadata.metadata()
        } catch {
            throw unavailable(source, error)
        }
    }

    private func unavailable(_ source: ProviderSource, _ failure: ProviderFailure) -> RPCError {
        log.write(
            "an identity provider is not available", ["provider": source.provider.name, "error": "\(failure)"],
            level: .warning)
        return RPCError(
            bare: .unavailable, "the identity provider \(source.provider.name) is not available: try again later",
            retryAfterMilliseconds: 5000
        ).caused(by: failure)
    }

    /// Permits the console's address and programs on the user's own machine (RFC 8252, section 7.3).
    private func check(_ redirectURI: String) throws(RPCError) {
        let console = configuration.publicURL.map { $0 + IdentityConfiguration.callbackPath }
        guard redirectURI == console || (ProviderURL.isAcceptable(redirectURI) && ProviderURL.isOnLoopback(redirectURI))
        else {
            throw .invalidArgument(
                "redirect_uri must be on a loopback address, or \(console ?? "the console's, which identity.public_url sets")"
            )
        }
    }
}

/// A sign-in in progress in a browser. The gateway keeps nothing of it: the provider sends its sealed form back as `state`.
struct SignInFlow: Sendable, Equatable {
    let provider: String
    let redirectURI: String
    /// The secret of the proof key (RFC 7636).
    let codeVerifier: String
    /// The nonce that the identity token must have.
    let nonce: String
    /// The digest of the secret that the client keeps, so that no other client can complete the sign-in.
    let clientDigest: [UInt8]
    let expiresAt: UnixTime

    private static let longestState = 4096

    /// Returns the sealed form.
    ///
    /// - Parameter key: 32 bytes.
    func sealed(_ key: [UInt8]) -> String {
        let fields = [
            provider, redirectURI, codeVerifier, nonce, Hex.lower(clientDigest), "\(expiresAt.microseconds)",
        ]
        let nonce = Random.bytes(AES256GCM.nonceCount)
        let plain = Array(fields.joined(separator: "\n").utf8)
        return Base64.encodeURL(nonce + AES256GCM.seal(plain, key: key, nonce: nonce))
    }

    /// Opens a sealed sign-in; `nil` for any other text.
    init?(sealed text: String, key: [UInt8]) {
        guard text.utf8.count <= Self.longestState, let bytes = Base64.decodeURL(text),
            bytes.count > AES256GCM.nonceCount,
            let plain = AES256GCM.open(
                Array(bytes[AES256GCM.nonceCount...]), key: key, nonce: Array(bytes[..<AES256GCM.nonceCount]))
        else { return nil }
        let fields = String(decoding: plain, as: UTF8.self).split(separator: "\n", omittingEmptySubsequences: false)
            .map(String.init)
        guard fields.count == 6, let digest = Hex.decode(fields[4]), let expiry = Int64(fields[5]) else { return nil }
        self.init(
            provider: fields[0], redirectURI: fields[1], codeVerifier: fields[2], nonce: fields[3],
            clientDigest: digest, expiresAt: UnixTime(microseconds: expiry))
    }

    init(
        provider: String, redirectURI: String, codeVerifier: String, nonce: String, clientDigest: [UInt8],
        expiresAt: UnixTime
    ) {
        self.provider = provider
        self.redirectURI = redirectURI
        self.codeVerifier = codeVerifier
        self.nonce = nonce
        self.clientDigest = clientDigest
        self.expiresAt = expiresAt
    }

    /// The challenge for the provider (RFC 7636, section 4.2, S256).
    var codeChallenge: String { Base64.encodeURL(Digest.sha256(Array(codeVerifier.utf8))) }
}
