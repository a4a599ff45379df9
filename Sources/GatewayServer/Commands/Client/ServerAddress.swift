import CommandLineInterface
import Configuration
import HTTPTypes
import Sockets

/// The address of the gateway for commands.
enum ServerAddress {
    static let authVariable = "DATA_GATEWAY_AUTH"
    static let adminVariable = "DATA_GATEWAY_ADMIN"
    static let gatewayVariable = "DATA_GATEWAY_GATEWAY"

    /// The auth listener: from the option, the environment, the last session, or the default on this machine.
    static func auth(
        _ option: PeerAddress?, _ environment: CommandEnvironment, _ session: SignedInSession?
    ) throws(ClientFailure) -> PeerAddress {
        if let option { return option }
        let remembered = session.flatMap { PeerAddress($0.authServer) }
        return try variable(authVariable, environment) ?? remembered ?? standard(.auth)
    }

    /// A listener for a user's commands: from the option, the environment, the session, or the default port on the host of the
    /// session.
    static func of(
        _ listener: CommandListener, _ option: PeerAddress?, _ environment: CommandEnvironment,
        _ session: SignedInSession
    ) throws(ClientFailure) -> PeerAddress {
        switch listener {
        case .admin:
            if let chosen = try chosenAdmin(option, environment) { return chosen }
            return session.adminServer.flatMap { PeerAddress($0) } ?? standard(.admin, beside: session)
        case .auth:
            return try auth(option, environment, session)
        case .gateway:
            if let option { return option }
            let remembered = session.gatewayServer.flatMap { PeerAddress($0) }
            return try variable(gatewayVariable, environment) ?? remembered ?? standard(.gateway, beside: session)
        }
    }

    /// The admin listener, if the option or the environment defines one.
    static func chosenAdmin(
        _ option: PeerAddress?, _ environment: CommandEnvironment
    ) throws(ClientFailure) -> PeerAddress? {
        if let option { return option }
        return try variable(adminVariable, environment)
    }

    private static func variable(
        _ name: String, _ environment: CommandEnvironment
    ) throws(ClientFailure) -> PeerAddress? {
        guard let text = environment[name] else { return nil }
        guard let address = PeerAddress(text) else {
            throw ClientFailure("\(name) must be HOST:PORT (IPv6: [HOST]:PORT), not '\(text)'", exitCode: .usage)
        }
        return address
    }

    private static func standard(_ listener: ListenerName, beside session: SignedInSession) -> PeerAddress {
        let standard = standard(listener)
        return PeerAddress(host: PeerAddress(session.authServer)?.host ?? standard.host, port: standard.port)
    }

    private static func standard(_ listener: ListenerName) -> PeerAddress {
        PeerAddress(listener.standardAddress) ?? .unknown
    }
}
