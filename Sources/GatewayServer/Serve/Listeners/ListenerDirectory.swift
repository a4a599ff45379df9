import Basics
import Capability
import Configuration
import HTTPTypes
import JSON

/// The document `/.well-known/data-gateway` of the web listener: where each listener is and whether it uses TLS, so that clients
/// need to know one address.
struct ListenerDirectory {
    static let path = "/.well-known/data-gateway"

    private let listeners: JSONValue
    private let certificates: GatewayCertificates

    /// - Parameter addresses: of the listeners that clients other than operators' tools use.
    init(
        _ configuration: Configuration, _ addresses: [ListenerName: PeerAddress], certificates: GatewayCertificates
    ) {
        listeners = .object(
            PublicAddresses.listeners.compactMap { name in
                addresses[name].map { own in
                    let address = configuration.publicAddresses.address(
                        of: name, own: own, isSecure: configuration.isSecure(name))
                    return JSONValue.Member(
                        name: name.rawValue, value: Self.listener(address.peer, isSecure: address.isSecure))
                }
            })
        self.certificates = certificates
    }

    /// A listener on all addresses has no host: it is at the one that the client used.
    private static func listener(_ address: PeerAddress, isSecure: Bool) -> JSONValue {
        let host = address.isWildcard ? [] : [JSONValue.Member(name: "host", value: .string(address.host))]
        return .object(
            host + [
                JSONValue.Member(name: "port", value: .number(Int64(address.port))),
                JSONValue.Member(name: "tls", value: .bool(isSecure)),
            ])
    }

    var response: HTTPResponse {
        let fields: HTTPFields = [
            "Content-Type": "application/json", "Cache-Control": "no-cache", "X-Content-Type-Options": "nosniff",
        ]
        let document = JSONValue.object([
            JSONValue.Member(name: "version", value: .string(ProgramVersion.current)),
            JSONValue.Member(name: "certificate_names", value: .array(certificates.names.map { .string($0) })),
            JSONValue.Member(name: "listeners", value: listeners),
        ])
        return HTTPResponse(status: 200, fields: fields, body: .bytes(Array("\(document.text)\n".utf8)))
    }
}
