import Capability
import CommandLineInterface
import Configuration
import HTTPTypes
import Sockets

/// The listeners of the gateway for commands.
enum ServerAddress {
    static let authVariable = "DATA_GATEWAY_AUTH"
    static let adminVariable = "DATA_GATEWAY_ADMIN"
    static let gatewayVariable = "DATA_GATEWAY_GATEWAY"

    /// The auth listener: from the option, the environment, the last session, or the default on this machine.
    static func auth(
        _ option: ListenerEndpoint?, _ environment: CommandEnvironment, _ session: SignedInSession?
    ) throws(ClientFailure) -> ListenerEndpoint {
        if let option { return option }
        return try variable(authVariable, environment) ?? session?.authServer ?? ListenerEndpoint(standard(.auth))
    }

    /// A listener for a user's commands: from the option, the environment, the session, or the default port on the host of the
    /// session.
    static func of(
        _ listener: CommandListener, _ option: ListenerEndpoint?, _ environment: CommandEnvironment,
        _ session: SignedInSession
    ) throws(ClientFailure) -> ListenerEndpoint {
        switch listener {
        case .admin:
            return try chosenAdmin(option, environment) ?? session.adminServer ?? standard(.admin, beside: session)
        case .auth:
            return try auth(option, environment, session)
        case .gateway:
            if let option { return option }
            let chosen = try variable(gatewayVariable, environment) ?? session.gatewayServer
            return chosen ?? standard(.gateway, beside: session)
        }
    }

    /// The admin listener, if the option or the environment defines one.
    static func chosenAdmin(
        _ option: ListenerEndpoint?, _ environment: CommandEnvironment
    ) throws(ClientFailure) -> ListenerEndpoint? {
        if let option { return option }
        return try variable(adminVariable, environment)
    }

    private static func variable(
        _ name: String, _ environment: CommandEnvironment
    ) throws(ClientFailure) -> ListenerEndpoint? {
        guard let text = environment[name] else { return nil }
        guard let endpoint = ListenerEndpoint(text) else {
            throw ClientFailure(
                "\(name) must be [http[s]://]HOST:PORT (IPv6: [HOST]:PORT), not '\(text)'", exitCode: .usage)
        }
        return endpoint
    }

    /// The listeners for devices: from the environment, the session, or the default ports on the host of the auth listener.
    static func forDevices(
        _ environment: CommandEnvironment, _ session: SignedInSession
    ) throws(ClientFailure) -> (auth: ListenerEndpoint, gateway: ListenerEndpoint, deviceInit: ListenerEndpoint) {
        var session = session
        let auth = try auth(nil, environment, session)
        session.authServer = auth
        return (
            auth, try of(.gateway, nil, environment, session),
            session.deviceInitServer ?? standard(.deviceInit, beside: session)
        )
    }

    private static func standard(_ listener: ListenerName, beside session: SignedInSession) -> ListenerEndpoint {
        let standard = standard(listener)
        return ListenerEndpoint(
            PeerAddress(host: session.authServer?.address.host ?? standard.host, port: standard.port))
    }

    static func standard(_ listener: ListenerName) -> PeerAddress {
        PeerAddress(listener.standardAddress) ?? .unknown
    }
}
