import Basics
import Crypto
import Proto

/// The part of a session's row that is encrypted: the user and their tokens.
struct SealedSession: Codable {
    let organization: String
    let userName: String
    let role: String
    let userID: Int64
    let access: String
    let renewAtMicroseconds: Int64
    let refresh: String

    init(_ user: User, _ tokens: UserTokens) {
        organization = user.organization
        userName = user.userName
        role = user.role
        userID = user.userID
        access = tokens.access.exposedText
        renewAtMicroseconds = tokens.renewAt.microseconds
        refresh = tokens.refresh.exposedText
    }

    var user: User { User(organization: organization, userName: userName, role: role, userID: userID) }

    var tokens: UserTokens {
        UserTokens(
            access: Secret(access), renewAt: UnixTime(microseconds: renewAtMicroseconds), refresh: Secret(refresh))
    }
}

/// The tokens from a user's sign-in, for use by the console; they never leave the gateway.
struct UserTokens: Sendable {
    let access: Secret
    /// The time from which a new access token is requested.
    let renewAt: UnixTime
    let refresh: Secret

    init(access: Secret, renewAt: UnixTime, refresh: Secret) {
        self.access = access
        self.renewAt = renewAt
        self.refresh = refresh
    }

    init(_ response: CompleteLoginResponse, at now: UnixTime) {
        self.init(response.accessToken, response.accessTokenExpiresAtUnix, response.refreshToken, at: now)
    }

    init(_ response: LoginResponse, at now: UnixTime) {
        self.init(response.accessToken, response.accessTokenExpiresAtUnix, response.refreshToken, at: now)
    }

    init(_ response: RefreshTokenResponse, at now: UnixTime) {
        self.init(response.accessToken, response.accessTokenExpiresAtUnix, response.refreshToken, at: now)
    }

    private init(_ access: String, _ expiresAt: Int64, _ refresh: String, at now: UnixTime) {
        self.access = Secret(access)
        self.refresh = Secret(refresh)
        // After three quarters of its lifetime: for any lifetime, enough is left for the call itself.
        renewAt = now.adding(seconds: max(0, expiresAt - now.seconds) * 3 / 4)
    }
}
