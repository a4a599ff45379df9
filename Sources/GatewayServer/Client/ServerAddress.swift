import Network
import RPC

/// Where commands find the gateway when their options do not say.
enum ServerAddress {
    static let authVariable = "DATA_GATEWAY_AUTH"
    static let adminVariable = "DATA_GATEWAY_ADMIN"

    /// The auth listener: option, environment, last session, this machine.
    static func auth(
        _ option: PeerAddress?, _ environment: CommandEnvironment, _ session: Session?
    ) throws(ClientFailure) -> PeerAddress {
        if let option { return option }
        let remembered = session.flatMap { PeerAddress($0.authServer) }
        return try variable(authVariable, environment) ?? remembered ?? standard(.auth)
    }

    /// The admin listener: option, environment, session, or its usual port where the session is from.
    static func admin(
        _ option: PeerAddress?, _ environment: CommandEnvironment, _ session: Session
    ) throws(ClientFailure) -> PeerAddress {
        if let chosen = try chosenAdmin(option, environment) { return chosen }
        if let remembered = session.adminServer.flatMap({ PeerAddress($0) }) { return remembered }
        let host = PeerAddress(session.authServer)?.host ?? standard(.admin).host
        return PeerAddress(host: host, port: standard(.admin).port)
    }

    /// The admin listener, where option or environment name one.
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

    private static func standard(_ listener: ListenerName) -> PeerAddress {
        PeerAddress(listener.standardAddress) ?? .unknown
    }
}
