import Basics
import Crypto
import GRPCWire
import HTTPTypes
package import Proto
package import RPC

/// The gRPC service through which devices, sites and people get access tokens.
///
/// Deployed clients give up after any detail code except AUTH_INTERNAL_ERROR, so transient errors have no detail code.
package struct AuthService: AuthServiceHandler {
    let accounts: Accounts

    package func exchangeCredential(
        _ request: ExchangeCredentialRequest, context: CallContext
    ) async throws -> ExchangeCredentialResponse {
        try await withBareUnavailability {
            let issue = try await accounts.credentials.exchange.exchange(
                request.credential, addressSerial: request.addressSerial, peer: context.peer.host,
                at: accounts.clock.now())
            let mac = issue.announcement.map { DeviceMAC.addressAnnouncement($0, credential: request.credential) }
            // `principal` stays unset: a deployed Go client declares it as a string, and fails if its bytes are not UTF-8, which
            // the ids of sites above 127 are not.
            return ExchangeCredentialResponse(
                accessToken: issue.token.text, expiresAtUnix: issue.token.expiresAt.seconds, tokenType: "Bearer",
                addressAnnouncement: issue.announcement ?? [], addressAnnouncementMac: mac ?? [],
                rotateCredential: issue.isRotationRequested)
        }
    }

    package func rotateCredential(
        _ request: RotateCredentialRequest, context: CallContext
    ) async throws -> RotateCredentialResponse {
        try await withBareUnavailability {
            let next = try await accounts.credentials.rotations.rotate(
                request.credential, peer: context.peer.host, at: accounts.clock.now())
            return RotateCredentialResponse(credential: next.exposedText)
        }
    }

    package func login(_ request: LoginRequest, context: CallContext) async throws -> LoginResponse {
        try await withBareUnavailability {
            let now = accounts.clock.now()
            let session = try await accounts.sessions.login(
                organization: request.organization, userName: request.userName, password: Secret(request.password),
                from: SessionPlace(context), at: now)
            let access = accounts.accessToken(for: session, at: now)
            return LoginResponse(
                accessToken: access.text, accessTokenExpiresAtUnix: access.expiresAt.seconds,
                refreshToken: session.refreshToken, refreshTokenExpiresAtUnix: session.refreshExpiresAt.seconds,
                tokenType: "Bearer", user: session.user.message)
        }
    }

    package func refreshToken(
        _ request: RefreshTokenRequest, context: CallContext
    ) async throws -> RefreshTokenResponse {
        try await withBareUnavailability {
            let now = accounts.clock.now()
            return try await accounts.keptResponses.once(context) {
                try await accounts.sessions.refresh(request.refreshToken, peer: context.peer.host, at: now)
            } respond: { session in
                let access = accounts.accessToken(for: session, at: now)
                return RefreshTokenResponse(
                    accessToken: access.text, accessTokenExpiresAtUnix: access.expiresAt.seconds,
                    refreshToken: session.refreshToken, refreshTokenExpiresAtUnix: session.refreshExpiresAt.seconds,
                    tokenType: "Bearer", user: session.user.message)
            }
        }
    }
}

/// The gRPC service through which service accounts get access tokens.
package struct SystemAuthService: SystemAuthServiceHandler {
    let accounts: Accounts

    package func exchangeSystemCredential(
        _ request: ExchangeSystemCredentialRequest, context: CallContext
    ) async throws -> ExchangeSystemCredentialResponse {
        try await withBareUnavailability {
            let (token, expiresAt, user) = try await accounts.credentials.system.exchange(
                request.credential, peer: context.peer.host, at: accounts.clock.now())
            return ExchangeSystemCredentialResponse(
                accessToken: token, accessTokenExpiresAtUnix: expiresAt.seconds, tokenType: "Bearer",
                organization: user.organization.name, userName: user.name)
        }
    }
}

/// Removes the detail code from an UNAVAILABLE error.
func withBareUnavailability<T>(_ body: () async throws -> T) async throws -> T {
    do {
        return try await body()
    } catch {
        guard var refusal = RPCError(of: error), refusal.status == .unavailable else { throw error }
        refusal.detail = nil
        throw refusal
    }
}
