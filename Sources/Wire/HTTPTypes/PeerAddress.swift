/// A socket's address, as text: `127.0.0.1:50051`, `[::1]:50051`.
package struct PeerAddress: Sendable, Hashable, CustomStringConvertible {
    /// Without brackets.
    package let host: String
    package let port: Int

    package init(host: String, port: Int) {
        self.host = host
        self.port = port
    }

    package static let unknown = PeerAddress(host: "", port: 0)

    package var description: String { isBracketed ? "[\(host)]:\(port)" : "\(host):\(port)" }

    /// Whether brackets tell the host's colons from the one before the port.
    package var isBracketed: Bool { host.utf8.contains(UInt8(ascii: ":")) }
}
