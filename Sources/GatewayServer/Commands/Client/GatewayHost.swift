import CommandLineInterface
import Foundation
import HTTPClient
import HTTPTypes
import Sockets

/// `http[s]://HOST[:PORT]`: the web listener of a gateway, which tells where its other listeners are.
struct GatewayHost: ArgumentValue, Hashable, Sendable {
    private static let standardPort = 50_070
    private static let timeout = Duration.seconds(10)

    let scheme: String
    let address: PeerAddress

    init(argument: String) throws(ArgumentProblem) {
        let parts = argument.split(separator: "/", omittingEmptySubsequences: false)
        let isURL = parts.count >= 3 && ["http:", "https:"].contains(parts[0]) && parts[1].isEmpty
        guard isURL, parts.count == 3 || (parts.count == 4 && parts[3].isEmpty),
            let address = PeerAddress(String(parts[2])) ?? PeerAddress("\(parts[2]):\(Self.standardPort)")
        else { throw ArgumentProblem("must be http://HOST[:PORT] or https://HOST[:PORT], not '\(argument)'") }
        scheme = String(parts[0].dropLast())
        self.address = address
    }

    /// The addresses of the listeners.
    struct Listeners: Sendable {
        let auth: PeerAddress
        let admin: PeerAddress?
        let gateway: PeerAddress?
    }

    private struct Document: Decodable {
        struct Listener: Decodable {
            let port: Int
            let tls: Bool
        }

        let listeners: [String: Listener]
    }

    private func unavailable(_ url: String, _ reason: String) -> ClientFailure {
        ClientFailure(
            """
            \(url) is not available: \(reason); check that --host is the web listener of a gateway, whose default port is \
            \(Self.standardPort)
            """, exitCode: .unreachable)
    }

    /// Asks the web listener.
    func listeners(_ environment: CommandEnvironment) async throws(ClientFailure) -> Listeners {
        var options = HTTPConnection.Options(authorities: environment.authorities)
        options.totalTimeout = Self.timeout
        let url = "\(scheme)://\(address)/.well-known/data-gateway"
        let reply: HTTPReply
        do {
            reply = try await HTTPConnection(options).exchange(HTTPRequest("GET", url))
        } catch TransferFailure.connection(let reason), TransferFailure.unusable(let reason) {
            throw unavailable(url, reason)
        } catch {
            throw unavailable(url, "\(error)")
        }
        guard reply.status == 200, let document = try? JSONDecoder().decode(Document.self, from: Data(reply.body)),
            let auth = document.listeners["auth"]
        else {
            throw ClientFailure(
                "\(url) does not name the listeners: check that the address is a gateway's web listener")
        }
        guard !auth.tls || environment[CommandEnvironment.authoritiesVariable] != nil else {
            throw ClientFailure(
                """
                the gateway requires TLS: set \(CommandEnvironment.authoritiesVariable) to the file of its authorities, or \
                to system
                """)
        }
        func listener(_ name: String) -> PeerAddress? {
            document.listeners[name].map { PeerAddress(host: address.host, port: $0.port) }
        }
        return Listeners(
            auth: PeerAddress(host: address.host, port: auth.port), admin: listener("admin"),
            gateway: listener("gateway"))
    }
}
