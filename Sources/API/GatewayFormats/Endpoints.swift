package import HTTPTypes

/// The gateway's endpoints for a device: the content of `archebase-endpoints.json`, in the format of the SDKs.
package struct Endpoints: Codable, Sendable, Hashable {
    package struct Endpoint: Codable, Sendable, Hashable, CustomStringConvertible {
        package enum Scheme: String, Codable, Sendable {
            case http
            case https
        }

        package var scheme: Scheme
        package var host: String
        package var port: Int

        package init(scheme: Scheme, host: String, port: Int) {
            self.scheme = scheme
            self.host = host
            self.port = port
        }

        package var address: PeerAddress { PeerAddress(host: host, port: port) }

        package var description: String { "\(scheme.rawValue)://\(address)" }
    }

    package var auth: Endpoint
    package var gateway: Endpoint
    package var deviceInit: Endpoint

    private var all: [Endpoint] { [auth, gateway, deviceInit] }

    /// Returns the first of the new endpoints that is without TLS though the present one of that listener uses it; `nil` = none is.
    package func withoutTLS(in new: Endpoints) -> Endpoint? {
        zip(all, new.all).first { $0.scheme == .https && $1.scheme == .http }?.1
    }

    /// Whether any listener uses TLS.
    package var usesTLS: Bool { all.contains { $0.scheme == .https } }

    /// The first listener without TLS; `nil` = all use it.
    package var cleartext: Endpoint? { all.first { $0.scheme == .http } }

    package init(auth: Endpoint, gateway: Endpoint, deviceInit: Endpoint) {
        self.auth = auth
        self.gateway = gateway
        self.deviceInit = deviceInit
    }

    /// The default ports of one host.
    package init(scheme: Endpoint.Scheme = .http, host: String = "127.0.0.1") {
        auth = Endpoint(scheme: scheme, host: host, port: 50051)
        gateway = Endpoint(scheme: scheme, host: host, port: 50053)
        deviceInit = Endpoint(scheme: scheme, host: host, port: 50057)
    }
}
