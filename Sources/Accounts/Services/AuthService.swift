import Platform
import Proto
import RPC

/// How devices, sites and people get access tokens.
///
/// Deployed clients give up at any detail code here but AUTH_INTERNAL_ERROR, so passing trouble leaves without one.
public struct AuthService: AuthServiceHandler {
    let accounts: Accounts

    public func exchangeCredential(
        _ request: ExchangeCredentialRequest, context: CallContext
    ) async throws -> ExchangeCredentialResponse {
        try await withAuthErrors {
            let (token, expiresAt, key) = try accounts.keyExchange.exchange(
                request.credential, peer: context.peer.host, at: accounts.clock.now())
            return ExchangeCredentialResponse(
                accessToken: token, expiresAtUnix: expiresAt.seconds, tokenType: "Bearer",
                principal: key.principalMessage)
        }
    }

    public func login(_ request: LoginRequest, context: CallContext) async throws -> LoginResponse {
        try await withAuthErrors {
            let now = accounts.clock.now()
            let session = try await accounts.sessions.login(
                organization: request.organization, userName: request.userName, password: Secret(request.password),
                peer: context.peer.host, at: now)
            let access = accounts.accessToken(for: session.user, at: now)
            return LoginResponse(
                accessToken: access.text, accessTokenExpiresAtUnix: access.expiresAt.seconds,
                refreshToken: session.refreshToken, refreshTokenExpiresAtUnix: session.refreshExpiresAt.seconds,
                tokenType: "Bearer", user: session.user.message)
        }
    }

    public func refreshToken(
        _ request: RefreshTokenRequest, context: CallContext
    ) async throws -> RefreshTokenResponse {
        try await withAuthErrors {
            let now = accounts.clock.now()
            let session = try await accounts.sessions.refresh(
                request.refreshToken, peer: context.peer.host, at: now)
            let access = accounts.accessToken(for: session.user, at: now)
            return RefreshTokenResponse(
                accessToken: access.text, accessTokenExpiresAtUnix: access.expiresAt.seconds,
                refreshToken: session.refreshToken, refreshTokenExpiresAtUnix: session.refreshExpiresAt.seconds,
                tokenType: "Bearer", user: session.user.message)
        }
    }

    private func withAuthErrors<T>(_ body: () async throws -> T) async throws -> T {
        do {
            return try await body()
        } catch {
            var refusal: RPCError
            switch error {
            case let error as RPCError: refusal = error
            case let error as any RPCErrorConvertible: refusal = error.rpcError
            default: throw error
            }
            if refusal.status == .unavailable { refusal.detail = nil }
            if refusal.detail == .internalError { refusal.detail = .authInternalError }
            throw refusal
        }
    }
}

/// How a session ends before its time.
public struct SessionService: SessionServiceHandler {
    let accounts: Accounts

    public func logout(_ request: LogoutRequest, context: CallContext) async throws -> LogoutResponse {
        try await accounts.sessions.logout(request.refreshToken)
        return LogoutResponse()
    }
}
