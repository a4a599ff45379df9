package import Accounts
import Basics
package import Database
import GRPCWire
import GatewayAPI
import HTTPTypes
import IdentityTokens
import JSON
import Proto
import Protobuf
import RPC

/// Records what an app stores about a person, in the transaction of the sign-in: the user, and the address in the token.
package typealias SignInRecord = @Sendable (UserRecord, _ email: String?, Connection) throws -> Void

/// Sign-ins of people, and exchanges of workloads' tokens: from a token to a session.
struct IdentitySignIns: Sendable {
    let sources: [ProviderSource]
    let database: Database
    let clock: any WallClock
    let accounts: Accounts
    let rules: SignInRules
    let nonces: NonceIssuer
    let browser: BrowserSignIns
    /// The limit of failures of each address; a success is not counted.
    let failures: Throttle
    let limits: LimitCounts
    let log: Logger

    func begin(_ name: String, redirectURI: String) async throws -> BrowserSignIns.Begun {
        try await browser.begin(try source(name), redirectURI: redirectURI)
    }

    func complete(
        _ redirect: BrowserSignIns.Redirect, secret: String, _ context: CallContext
    ) async throws -> LoginResponse {
        try await limited(context) {
            let flow = try browser.flow(state: redirect.state, secret: secret)
            let source = try source(flow.provider)
            let text = try await identityToken(for: redirect, of: flow, source, context)
            let (signed, token) = try await verified(text, source)
            guard token.nonce == flow.nonce else { throw refusal(.nonce, source.provider.name) }
            return response(for: try await open(token, signed.digest, nonce: nil, source.provider, context))
        }
    }

    private func identityToken(
        for redirect: BrowserSignIns.Redirect, of flow: SignInFlow, _ source: ProviderSource, _ context: CallContext
    ) async throws -> String {
        let slot: SharedSlots<String>.Slot
        do throws(SlotShortage) {
            slot = try source.exchanges.take(for: AddressRange.countedAsOne(context.peer.host))
        } catch {
            limits.reached("sign_in_exchanges")
            let name = source.provider.name
            let message =
                error.scope == .all
                ? "too many sign-ins are in progress at \(name): try again later"
                : "too many sign-ins from your address are in progress at \(name): try again later"
            throw RPCError(bare: .unavailable, message, retryAfterMilliseconds: 1000)
        }
        defer { withExtendedLifetime(slot) {} }
        return try await browser.identityToken(for: redirect, of: flow, source)
    }

    func signIn(
        _ name: String, token text: String, nonce: String, _ context: CallContext
    ) async throws -> LoginResponse {
        response(for: try await session(name, token: text, nonce: nonce, context) { _, _, _ in })
    }

    /// Opens a session by an identity token.
    ///
    /// - Parameter record: runs in the transaction of the sign-in, with the user and the token's address; an error ends the sign-in.
    func session(
        _ name: String, token text: String, nonce: String, _ context: CallContext, record: @escaping SignInRecord
    ) async throws -> ExternalSignIns.Session {
        try await limited(context) {
            let source = try source(name)
            guard let people = source.provider.people else { throw Self.unknown(name) }
            let (signed, token) = try await verified(text, source)
            let expiry = nonce.isEmpty ? nil : nonces.expiry(of: nonce, for: name, at: clock.now())
            guard TokenNonce.matches(nonce, token.nonce), expiry != nil || !people.requiresNonce else {
                throw refusal(.nonce, name)
            }
            return try await open(
                token, signed.digest, nonce: expiry.map { (nonce, $0) }, source.provider, context, record: record)
        }
    }

    /// Makes a nonce for a provider's sign-ins.
    func nonce(for name: String) throws(RPCError) -> String {
        nonces.make(for: try source(name).provider.name, at: clock.now())
    }

    /// Verifies a token that a provider sent about its people by itself, i.e. one that signs nobody in.
    func notice(_ text: String, of name: String, _ context: CallContext) async throws -> [String: JSONValue] {
        try await limited(context) {
            let source = try source(name)
            let signed = try parsed(text)
            let keys = try await source.keys.keys(for: signed.keyID)
            do throws(IdentityTokenError) {
                return try source.provider.tokenRules.verifyNotice(signed, keys: keys, at: clock.now())
            } catch {
                throw refusal(error, name)
            }
        }
    }

    private func response(for session: ExternalSignIns.Session) -> LoginResponse {
        accounts.externalSignIns.response(for: session, at: clock.now())
    }

    func exchange(workloadToken text: String, _ context: CallContext) async throws -> ExchangeWorkloadTokenResponse {
        try await limited(context) {
            let signed = try parsed(text)
            let found = sources.first {
                signed.issuer?.isExactly($0.provider.issuer) == true && !$0.provider.workloads.isEmpty
            }
            guard let source = found else {
                throw RPCError(
                    .authInvalidCredential, "no identity provider of workloads has the issuer of the identity token")
            }
            let (_, token) = try await verified(signed, source, of: .workload)
            guard let name = source.provider.workloads.first(where: { $0.admits(token) })?.account else {
                throw RPCError(.authInvalidCredential, "no service account accepts the claims of the identity token")
            }
            return try await WorkloadExchange(
                database: database, accounts: accounts, grace: rules.repeatGrace
            ).exchange(
                token, digest: source.provider.acceptsWorkloadTokensAgain ? nil : signed.digest, account: name,
                SignInRules.Attempt(action: context.method.name, place: SessionPlace(context), at: clock.now()))
        }
    }

    private func open(
        _ token: IdentityToken, _ digest: [UInt8], nonce: (text: String, expiresAt: UnixTime)?,
        _ provider: IdentityProvider, _ context: CallContext, record: @escaping SignInRecord = { _, _, _ in }
    ) async throws -> ExternalSignIns.Session {
        let attempt = SignInRules.Attempt(action: context.method.name, place: SessionPlace(context), at: clock.now())
        let session = try await database.write(mayUseReserve: true) { [rules] connection in
            let session = try rules.open(token, digest: digest, nonce: nonce, of: provider, attempt, in: connection)
            if let session { try record(session.user, token.email, connection) }
            return session
        }
        guard let session else {
            throw RPCError.permissionDenied("\(provider.title) has not given this person a role at the gateway")
        }
        return session
    }

    // MARK: Tokens

    private func parsed(_ text: String) throws(RPCError) -> SignedToken {
        do {
            return try SignedToken(parsing: text)
        } catch {
            throw refusal(error, nil)
        }
    }

    private func verified(
        _ text: String, _ source: ProviderSource
    ) async throws -> (signed: SignedToken, token: IdentityToken) {
        try await verified(try parsed(text), source)
    }

    private func verified(
        _ signed: SignedToken, _ source: ProviderSource, of bearer: IdentityTokenRules.Bearer = .person
    ) async throws -> (signed: SignedToken, token: IdentityToken) {
        let keys = try await source.keys.keys(for: signed.keyID)
        do throws(IdentityTokenError) {
            return (signed, try source.provider.tokenRules.verify(signed, of: bearer, keys: keys, at: clock.now()))
        } catch {
            throw refusal(error, source.provider.name)
        }
    }

    /// Returns the error of a token, and tells the operator the reason: the person only sees that the sign-in failed.
    ///
    /// - Parameter provider: `nil` = not known yet.
    private func refusal(_ reason: IdentityTokenError, _ provider: String?) -> RPCError {
        log.write("an identity token is refused", ["provider": provider ?? "unknown", "reason": "\(reason)"])
        return RPCError(reason)
    }

    private func source(_ name: String) throws(RPCError) -> ProviderSource {
        guard let source = sources.first(where: { $0.provider.name == name }) else { throw Self.unknown(name) }
        return source
    }

    private static func unknown(_ name: String) -> RPCError {
        .notFound("no identity provider for people has the name \"\(name.prefix(64))\"")
    }

    // MARK: Limits

    /// Runs a sign-in whose failures are counted: in advance, so that many at the same time do not pass the limit together.
    private func limited<Response>(
        _ context: CallContext, _ body: () async throws -> Response
    ) async throws -> Response {
        let address = AddressRange.countedAsOne(context.peer.host)
        let now = clock.now()
        if let wait = failures.take(address, at: now) {
            throw RPCError(
                bare: .unavailable, "too many sign-ins failed: try again later", retryAfterMilliseconds: wait)
        }
        do {
            let response = try await body()
            failures.giveBack(address)
            return response
        } catch {
            let refusal = RPCError(of: error)
            // Only refusals of the caller's token count, not the state of the gateway or of the provider.
            guard let refusal, [.unauthenticated, .permissionDenied].contains(refusal.status) else {
                failures.giveBack(address)
                throw error
            }
            accounts.deferred.noteDenial(context.method.name, refusal.code, host: context.peer.host, at: now)
            throw error
        }
    }
}
