/// A socket's address, as text: `127.0.0.1:50051`, `[::1]:50051`.
package struct PeerAddress: Sendable, Hashable, CustomStringConvertible {
    /// The host without brackets.
    package let host: String
    package let port: Int

    package init(host: String, port: Int) {
        self.host = host
        self.port = port
    }

    package static let unknown = PeerAddress(host: "", port: 0)

    package var description: String { isBracketed ? "[\(host)]:\(port)" : "\(host):\(port)" }

    /// Whether the host contains colons and therefore needs brackets before the port.
    package var isBracketed: Bool { host.utf8.contains(UInt8(ascii: ":")) }
}
