import Basics
import CommandLineInterface
import RPC

/// The session of a signed-in user: the gateway and the tokens, stored by `data-gateway login` for later commands.
struct SignedInSession: Codable, Sendable, Hashable {
    /// The listener that issued the tokens; `nil` for an API token.
    var authServer: ListenerEndpoint?
    /// The listener for the commands; `nil` = the admin listener's default port at the host of `authServer`.
    var adminServer: ListenerEndpoint?
    /// The address for commands about objects; `nil` = the default port of the gateway listener on the same host.
    var gatewayServer: ListenerEndpoint?
    /// The address at which devices fetch their keys; `nil` = the default port of the device-init listener on the same host.
    var deviceInitServer: ListenerEndpoint?
    /// The name in the listeners' certificates; `nil` = the host of each address.
    var tlsName: String?
    /// The PEM file of the authorities of the certificates, or `system`; `nil` = those of the machine.
    var authorities: String?
    var organization: String
    var userName: String
    var role: String
    var accessToken: String
    var accessTokenExpiresAtUnix: Int64
    /// Empty if the gateway issued none.
    var refreshToken: String
    var refreshTokenExpiresAtUnix: Int64

    enum CodingKeys: String, CodingKey {
        case authServer = "auth_server"
        case adminServer = "admin_server"
        case gatewayServer = "gateway_server"
        case deviceInitServer = "device_init_server"
        case tlsName = "tls_name"
        case authorities
        case organization
        case userName = "user_name"
        case role
        case accessToken = "access_token"
        case accessTokenExpiresAtUnix = "access_token_expires_at_unix"
        case refreshToken = "refresh_token"
        case refreshTokenExpiresAtUnix = "refresh_token_expires_at_unix"
    }

    /// Whether somebody is signed in; otherwise the session only keeps a gateway's addresses, as that of a new context does.
    var isSignedIn: Bool { !accessToken.isEmpty }

    /// The addresses of the session, without its user.
    var signedOut: SignedInSession {
        var session = self
        session.organization = ""
        session.userName = ""
        session.role = ""
        session.accessToken = ""
        session.accessTokenExpiresAtUnix = 0
        session.refreshToken = ""
        session.refreshTokenExpiresAtUnix = 0
        return session
    }

    /// Whether the access token has expired, or may expire during a call.
    func isOver(at time: UnixTime) -> Bool {
        accessTokenExpiresAtUnix - 10 <= time.seconds
    }
}

extension SignedInSession {
    /// Makes a session of an API token, which no file contains. Its listeners are those of the environment, else of this machine.
    init(apiToken: String) {
        self.init(
            authServer: nil, organization: "", userName: "", role: "", accessToken: apiToken,
            accessTokenExpiresAtUnix: .max, refreshToken: "", refreshTokenExpiresAtUnix: 0)
    }
}

extension ClientFailure {
    static let notSignedIn = ClientFailure("you are not signed in: run data-gateway login --user NAME")

    static func notSignedIn(in context: ContextName) -> ClientFailure {
        ClientFailure("you are not signed in with the context \(context.text): run data-gateway login --user NAME")
    }

    static func ended(_ session: SignedInSession) -> ClientFailure {
        let organization = session.organization == "system" ? "" : " --organization \(session.organization)"
        return ClientFailure(
            "the session of \(session.userName) ended: run data-gateway login --user \(session.userName)\(organization)"
        )
    }
}
