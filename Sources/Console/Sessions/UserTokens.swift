import Basics
import Crypto
import Proto

/// The tokens that a user's password opened, for the console to use; none of them leaves the gateway.
struct UserTokens: Sendable {
    let access: Secret
    /// From then on another access token is asked for.
    let renewAt: UnixTime
    let refresh: Secret

    init(_ response: LoginResponse, at now: UnixTime) {
        self.init(response.accessToken, response.accessTokenExpiresAtUnix, response.refreshToken, at: now)
    }

    init(_ response: RefreshTokenResponse, at now: UnixTime) {
        self.init(response.accessToken, response.accessTokenExpiresAtUnix, response.refreshToken, at: now)
    }

    private init(_ access: String, _ expiresAt: Int64, _ refresh: String, at now: UnixTime) {
        self.access = Secret(access)
        self.refresh = Secret(refresh)
        // Three quarters into its life: whatever the lifetime is, time is left for the call itself.
        renewAt = now.adding(seconds: max(0, expiresAt - now.seconds) * 3 / 4)
    }
}
