/// A socket's address, as text: `127.0.0.1:50051`, `[::1]:50051`.
public struct PeerAddress: Sendable, Hashable, CustomStringConvertible {
    /// Without brackets.
    public let host: String
    public let port: Int

    public init(host: String, port: Int) {
        self.host = host
        self.port = port
    }

    public static let unknown = PeerAddress(host: "", port: 0)

    public var description: String {
        host.contains(":") ? "[\(host)]:\(port)" : "\(host):\(port)"
    }
}
