import Accounts
import Basics
import GatewayAPI
import Proto
import RPC

/// The gRPC service IdentityService, which converts messages and calls the rules.
struct IdentityService: IdentityServiceHandler {
    private static let longestName = 64
    /// The lengths of the parts of an address (RFC 5321, section 4.5.3.1).
    private static let longestEmailName = 64
    private static let longestEmailHost = 255

    let providers: [IdentityProvider]
    let signIns: IdentitySignIns
    let identities: Identities

    func listProviders(_ request: ListProvidersRequest, context: CallContext) async throws -> ListProvidersResponse {
        ListProvidersResponse(
            providers: providers.filter { $0.people != nil }.map {
                IdentityProviderInfo(name: $0.name, title: $0.title, hasBrowserSignIn: $0.client != nil)
            })
    }

    func beginSignIn(_ request: BeginSignInRequest, context: CallContext) async throws -> BeginSignInResponse {
        try FieldRules.note(request.provider, field: "provider", limit: Self.longestName)
        let begun = try await signIns.begin(request.provider, redirectURI: request.redirectURI)
        return BeginSignInResponse(
            authorizationURL: begun.authorizationURL, flowSecret: begun.flowSecret, nonce: begun.nonce)
    }

    func completeSignIn(_ request: CompleteSignInRequest, context: CallContext) async throws -> LoginResponse {
        try await signIns.complete(
            BrowserSignIns.Redirect(code: request.code, state: request.state, issuer: request.issuer),
            secret: request.flowSecret, context)
    }

    func signInWithIdentityToken(
        _ request: SignInWithIdentityTokenRequest, context: CallContext
    ) async throws -> LoginResponse {
        try FieldRules.note(request.provider, field: "provider", limit: Self.longestName)
        return try await signIns.signIn(
            request.provider, token: request.identityToken, nonce: request.nonce, context)
    }

    func exchangeWorkloadToken(
        _ request: ExchangeWorkloadTokenRequest, context: CallContext
    ) async throws -> ExchangeWorkloadTokenResponse {
        try await signIns.exchange(workloadToken: request.identityToken, context)
    }

    func listIdentities(_ request: ListIdentitiesRequest, context: CallContext) async throws -> ListIdentitiesResponse {
        let found = try await identities.list(of: request.userName, for: try Caller(context))
        return ListIdentitiesResponse(identities: found.map(message))
    }

    func findUsersByEmail(
        _ request: FindUsersByEmailRequest, context: CallContext
    ) async throws -> FindUsersByEmailResponse {
        let parts = request.email.unicodeScalars.split(separator: "@", omittingEmptySubsequences: false)
        guard parts.count == 2, (1...Self.longestEmailName).contains(parts[0].count),
            (1...Self.longestEmailHost).contains(parts[1].count)
        else { throw RPCError.invalidArgument("email must be a whole address such as ada@example.com") }
        let found = try await identities.users(withEmail: request.email, for: try Caller(context))
        return FindUsersByEmailResponse(
            users: found.map { user, identity in FoundUser(user: user.message, identity: message(identity)) })
    }

    private func message(_ identity: UserIdentityRecord) -> UserIdentity {
        identity.message(provider: providers.first { $0.issuer == identity.issuer }?.name ?? "")
    }

    func unlink(_ request: UnlinkRequest, context: CallContext) async throws -> UnlinkResponse {
        try await identities.unlink(request.identityID, by: try Caller(context))
        return UnlinkResponse()
    }
}

extension UserIdentityRecord {
    fileprivate func message(provider: String) -> UserIdentity {
        UserIdentity(
            identityID: id, provider: provider, issuer: issuer, subject: subject, email: email ?? "",
            emailVerified: isEmailVerified, createdAt: Timestamp(createdAt), lastUsedAt: Timestamp(lastUsedAt))
    }
}
