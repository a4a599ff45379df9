import CommandLineInterface
import Configuration
import HTTPTypes
import Sockets

/// A listener of a gateway: its address, and whether it uses TLS. As text `HOST:PORT`, `http://HOST:PORT` or `https://HOST:PORT`.
struct ListenerEndpoint: Hashable, Sendable {
    var address: PeerAddress
    /// Whether the listener uses TLS; `nil` = not known, the connection finds out.
    var isSecure: Bool?

    init(_ address: PeerAddress, isSecure: Bool? = nil) {
        self.address = address
        self.isSecure = isSecure
    }

    /// - Returns: `nil` if the text is not an address.
    init?(_ text: String) {
        let text = AddressText(text)
        guard let address = PeerAddress(text.rest) else { return nil }
        self.init(address, isSecure: text.isSecure)
    }

    var isLoopback: Bool { address.isLoopback }
}

extension ListenerEndpoint: CustomStringConvertible {
    var description: String { isSecure.map { "\($0 ? "https" : "http")://\(address)" } ?? "\(address)" }
}

extension ListenerEndpoint: ArgumentValue {
    init(argument: String) throws(ArgumentProblem) {
        guard let endpoint = ListenerEndpoint(argument) else {
            throw ArgumentProblem("must be [http[s]://]HOST:PORT (IPv6: [HOST]:PORT), not '\(argument)'")
        }
        self = endpoint
    }
}

extension ListenerEndpoint: Codable {
    init(from decoder: any Decoder) throws {
        let container = try decoder.singleValueContainer()
        guard let endpoint = ListenerEndpoint(try container.decode(String.self)) else {
            throw DecodingError.dataCorruptedError(in: container, debugDescription: "the text is not an address")
        }
        self = endpoint
    }

    func encode(to encoder: any Encoder) throws {
        var container = encoder.singleValueContainer()
        try container.encode(description)
    }
}

/// The rules for the certificates of a gateway's listeners.
struct ListenerTrust: Sendable {
    /// The environment variable with the name in the certificates, if it is not the host of the address.
    static let nameVariable = "DATA_GATEWAY_TLS_NAME"

    /// The PEM file of the authorities; `nil` = those that the machine trusts.
    private let file: String?
    /// The DNS name or address in the certificates; `nil` = the host of each address.
    let name: String?
    /// Whether a listener whose use of TLS is not known is expected to use it. It may be cleartext then only on loopback.
    let expectsTLS: Bool
    /// Whether a listener whose use of TLS is not known is expected to be cleartext, as the one that issued the session.
    let expectsCleartext: Bool

    /// - Parameter name: of an option, before the environment and the session.
    init(_ environment: CommandEnvironment, _ session: SignedInSession?, name: String? = nil) {
        let text = environment[CommandEnvironment.authoritiesVariable] ?? session?.authorities
        file = text.flatMap { $0 == "system" ? nil : $0 }
        self.name = name ?? environment[Self.nameVariable] ?? session?.tlsName
        expectsTLS = text != nil || session?.authServer?.isSecure == true
        expectsCleartext = text == nil && session?.authServer?.isSecure == false
    }

    /// The rules of the session of the environment; without a session those of the environment.
    init(current environment: CommandEnvironment) {
        self.init(environment, (try? SessionFile(in: environment).read()) ?? nil)
    }

    /// The authorities for requests by HTTP: a PEM file; `nil` = those that the machine trusts.
    var authorityFile: String? { file }

    /// - Throws: `ClientFailure` if the file cannot be used.
    func authorities() throws(ClientFailure) -> TLSAuthorities {
        do {
            return try TLSAuthorities(file: file)
        } catch {
            throw ClientFailure("\(CommandEnvironment.authoritiesVariable): \(error)", exitCode: .usage)
        }
    }
}
