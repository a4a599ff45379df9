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
