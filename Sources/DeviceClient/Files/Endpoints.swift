import HTTPTypes

/// Where a device finds the gateway: `archebase-endpoints.json`, as the SDKs write it.
public struct Endpoints: Codable, Sendable, Hashable {
    public struct Endpoint: Codable, Sendable, Hashable, CustomStringConvertible {
        public enum Scheme: String, Codable, Sendable {
            case http
            case https
        }

        public var scheme: Scheme
        public var host: String
        public var port: Int

        public init(scheme: Scheme, host: String, port: Int) {
            self.scheme = scheme
            self.host = host
            self.port = port
        }

        public var address: PeerAddress { PeerAddress(host: host, port: port) }

        public var description: String { "\(scheme.rawValue)://\(address)" }
    }

    public var auth: Endpoint
    public var gateway: Endpoint
    public var deviceInit: Endpoint

    /// The usual ports of one host.
    public init(scheme: Endpoint.Scheme = .http, host: String = "127.0.0.1") {
        auth = Endpoint(scheme: scheme, host: host, port: 50051)
        gateway = Endpoint(scheme: scheme, host: host, port: 50053)
        deviceInit = Endpoint(scheme: scheme, host: host, port: 50057)
    }
}
