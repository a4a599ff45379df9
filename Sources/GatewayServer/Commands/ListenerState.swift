import Basics
import CommandLineInterface
import HTTPTypes
import JSON

/// A listener of a running gateway, by its metrics.
struct ListenerState {
    private let name: String
    /// `HOST:PORT`.
    private let address: String
    private let isSecure: Bool

    init(labels: [String: String]) {
        name = labels["listener"] ?? ""
        address = labels["address"] ?? ""
        isSecure = labels["tls"] == "1"
    }

    fileprivate var text: String { "\(name) \(address)\(isSecure ? " (TLS)" : "")" }

    fileprivate var json: JSONValue {
        .object([
            JSONValue.Member(name: "name", value: .string(name)),
            JSONValue.Member(name: "address", value: .string(address)),
            JSONValue.Member(name: "port", value: PeerAddress(address).map { .number(Int64($0.port)) } ?? .null),
            JSONValue.Member(name: "tls", value: .bool(isSecure)),
        ])
    }
}

extension [ListenerState] {
    /// The field `listeners`. JSON also has the lines for people, which were all that earlier releases had.
    var field: ResourceField {
        ResourceField.lines("listeners", map(\.text)).with(json: .array(map(\.json)))
            .formerly("listener_addresses", .array(map { .string($0.text) }))
    }
}
