import Basics
import RPC

/// A signed-in user, the gateway, and the tokens: what `data-gateway login` leaves for the commands after it.
struct SignedInSession: Codable, Sendable, Hashable {
    /// Where the tokens come from, `HOST:PORT`.
    var authServer: String
    /// Where the commands go; `nil` = the admin listener's usual port at the host of `authServer`.
    var adminServer: String?
    /// Where commands about objects go; `nil` = the gateway listener's usual port there.
    var gatewayServer: String?
    var organization: String
    var userName: String
    var role: String
    var accessToken: String
    var accessTokenExpiresAtUnix: Int64
    /// Empty where the gateway gave none.
    var refreshToken: String
    var refreshTokenExpiresAtUnix: Int64

    enum CodingKeys: String, CodingKey {
        case authServer = "auth_server"
        case adminServer = "admin_server"
        case gatewayServer = "gateway_server"
        case organization
        case userName = "user_name"
        case role
        case accessToken = "access_token"
        case accessTokenExpiresAtUnix = "access_token_expires_at_unix"
        case refreshToken = "refresh_token"
        case refreshTokenExpiresAtUnix = "refresh_token_expires_at_unix"
    }

    /// Whether the access token has ended, or will before a call is through.
    func isOver(at time: UnixTime) -> Bool {
        accessTokenExpiresAtUnix <= time.seconds + 10
    }
}
