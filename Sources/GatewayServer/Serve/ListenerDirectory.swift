import Basics
import Configuration
import HTTPTypes

/// The document `/.well-known/data-gateway` of the web listener: which port has which listener, so that clients need to know one
/// address. The host is the one that the client used.
struct ListenerDirectory {
    static let path = "/.well-known/data-gateway"

    private let body: String

    /// - Parameter addresses: of the listeners that clients other than operators' tools use.
    init(_ configuration: Configuration, _ addresses: [ListenerName: PeerAddress]) {
        let clients: [ListenerName] = [.auth, .gateway, .admin, .deviceInit]
        let listeners = clients.compactMap { name in
            addresses[name].map { address in
                JSONValue.Member(
                    name: name.rawValue,
                    value: .object([
                        JSONValue.Member(name: "port", value: .number(Int64(address.port))),
                        JSONValue.Member(name: "tls", value: .bool(configuration.isSecure(name))),
                    ]))
            }
        }
        body =
            JSONValue.object([
                JSONValue.Member(name: "version", value: .string(ProgramVersion.current)),
                JSONValue.Member(name: "listeners", value: .object(listeners)),
            ]).text + "\n"
    }

    var response: HTTPResponse {
        let fields: HTTPFields = [
            "Content-Type": "application/json", "Cache-Control": "no-cache", "X-Content-Type-Options": "nosniff",
        ]
        return HTTPResponse(status: 200, fields: fields, body: .bytes(Array(body.utf8)))
    }
}
