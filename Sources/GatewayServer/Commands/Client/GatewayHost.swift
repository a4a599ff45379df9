import Capability
import CommandLineInterface
import Configuration
import FoundationEssentials
import HTTPClient
import HTTPTypes
import Sockets

/// `[http[s]://]HOST[:PORT]`: the web listener of a gateway, which names the other listeners.
struct GatewayHost: ArgumentValue, Hashable, Sendable {
    static let standardPort = 50_070
    static let path = "/.well-known/data-gateway"
    private static let timeout = Duration.seconds(10)

    /// Whether it uses TLS; of a host without a scheme, unless it is a loopback address.
    let isSecure: Bool
    let address: PeerAddress
    /// Whether the port was given.
    private let hasPort: Bool

    init(argument: String) throws(ArgumentProblem) {
        let text = AddressText(argument)
        let rest = text.rest
        let given = PeerAddress(rest)
        guard !rest.isEmpty, !rest.contains("/"), let address = given ?? PeerAddress("\(rest):\(Self.standardPort)"),
            PeerAddress.isHost(address.host)
        else { throw ArgumentProblem("must be [http[s]://]HOST[:PORT], not '\(argument)'") }
        isSecure = text.isSecure ?? !address.isLoopback
        self.address = address
        hasPort = given != nil
    }

    private func url(_ host: String) -> String {
        "\(isSecure ? "https" : "http")://\(PeerAddress(host: host, port: address.port))\(Self.path)"
    }

    /// Asks the web listener for the others. If it does not accept connections, as one that is only on loopback at another machine,
    /// those of the standard ports are used.
    ///
    /// - Parameter trust: for the certificate of the web listener.
    func listeners(_ environment: CommandEnvironment, _ trust: ListenerTrust) async throws(ClientFailure) -> Listeners {
        var options = HTTPConnection.Options(authorities: trust.authorityFile)
        options.totalTimeout = Self.timeout
        // The name is asked for, at the address.
        let name = isSecure ? trust.name : nil
        options.connectTo = name == nil ? nil : address
        let url = url(name ?? address.host)
        do {
            let reply = try await HTTPConnection(options).exchange(HTTPRequest("GET", url))
            guard reply.status == 200, let document = GatewayDocument(reply.body) else {
                throw ClientFailure(
                    "\(url) does not name the listeners: check that the address is a gateway's web listener")
            }
            return try document.listeners(at: self, name: trust.name)
        } catch let failure as ClientFailure {
            throw failure
        } catch TransferFailure.connection(let reason) where !hasPort && !address.isLoopback {
            environment.errorOutput(
                TextLayout.printable(
                    """
                    data-gateway: \(url) is not available: \(reason); the standard ports of \(address.host) are used
                    """))
            return standard
        } catch TransferFailure.connection(let reason), TransferFailure.unusable(let reason) {
            throw unavailable(url, reason)
        } catch {
            throw unavailable(url, "\(error)")
        }
    }

    /// The listeners at the standard ports, with TLS as given for the host.
    private var standard: Listeners {
        func listener(_ name: ListenerName) -> ListenerEndpoint {
            let port = ServerAddress.standard(name).port
            return ListenerEndpoint(PeerAddress(host: address.host, port: port), isSecure: isSecure)
        }
        return Listeners(
            auth: listener(.auth), admin: nil, gateway: listener(.gateway), deviceInit: listener(.deviceInit))
    }

    private func unavailable(_ url: String, _ reason: String) -> ClientFailure {
        let help =
            ClientFailure.help(against: reason, option: "--tls-name")
                ?? """
                check that --host is the web listener of a gateway, whose default port is \(Self.standardPort)\
                \(isSecure ? "" : ", and use https:// if it uses TLS")
                """
        return ClientFailure("\(url) is not available: \(reason); \(help)", exitCode: .unreachable)
    }

    /// The listeners of a gateway for commands, and for the devices that commands set up.
    struct Listeners: Sendable {
        var auth: ListenerEndpoint
        var admin: ListenerEndpoint?
        var gateway: ListenerEndpoint?
        var deviceInit: ListenerEndpoint?
        /// The name in their certificates; `nil` = the host of each address.
        var tlsName: String?
    }
}

/// The document of the web listener that names the others.
struct GatewayDocument: Decodable {
    private struct Listener: Decodable {
        let port: Int
        let tls: Bool
        /// `nil` = all addresses of the gateway's machine.
        let host: String?
    }

    private let listeners: [String: Listener]
    /// The names of the certificate; `nil` without one, or from an earlier version of the gateway.
    private let names: [String]?

    private enum CodingKeys: String, CodingKey {
        case listeners
        case names = "certificate_names"
    }

    init?(_ body: [UInt8]) {
        guard let document = try? JSONDecoder().decode(Self.self, from: Data(body)) else { return nil }
        self = document
    }

    /// Returns the addresses for a client that reached the web listener at `host`.
    func listeners(at host: GatewayHost, name: String?) throws(ClientFailure) -> GatewayHost.Listeners {
        guard let auth = endpoint("auth", at: host) else {
            throw ClientFailure("the auth listener of \(host.address.host) is off, and commands cannot sign in there")
        }
        return GatewayHost.Listeners(
            auth: auth, admin: endpoint("admin", at: host), gateway: endpoint("gateway", at: host),
            deviceInit: endpoint("device-init", at: host), tlsName: name ?? certificateName(for: host))
    }

    private func endpoint(_ name: String, at host: GatewayHost) -> ListenerEndpoint? {
        guard let listener = listeners[name] else { return nil }
        let isOnLoopback = listener.host.map { PeerAddress(host: $0, port: 0).isLoopback } ?? false
        if isOnLoopback, !host.address.isLoopback {
            // A proxy on the gateway's machine is in front of it; it uses TLS as for the web listener.
            return ListenerEndpoint(
                PeerAddress(host: host.address.host, port: listener.port), isSecure: listener.tls || host.isSecure)
        }
        // A listener of one address is not reachable at the loopback address.
        let place = host.address.isLoopback && !isOnLoopback ? listener.host ?? host.address.host : host.address.host
        return ListenerEndpoint(PeerAddress(host: place, port: listener.port), isSecure: listener.tls)
    }

    /// Returns the name that the certificate is checked for instead of the host; `nil` = the host. Somebody on the way could write
    /// any name into a document that came without TLS from another machine.
    private func certificateName(for host: GatewayHost) -> String? {
        guard let names, host.isSecure || host.address.isLoopback, !names.contains(host.address.host) else {
            return nil
        }
        let isCovered = names.contains { name in
            name.hasPrefix("*.")
                && host.address.host.split(separator: ".").dropFirst().joined(separator: ".") == name.dropFirst(2)
        }
        return isCovered ? nil : names.first { !$0.hasPrefix("*") }
    }
}
