import Basics
import HTTPTypes
import Sockets

/// What a server of HTTP/1.1 demands of its clients.
package struct HTTPServerConfiguration: Sendable {
    package var validator = RequestValidator()
    package var maximumConnections: UInt32 = 256
    /// The most connections of one address; further ones are closed at once; `nil` = no bound of its own.
    package var maximumConnectionsPerAddress: Int?
    /// Addresses that stand for many, and so have no such bound: proxies.
    package var proxies: [AddressRange] = []
    /// What a client has to move in each `slowGrace` of a request or an answer, bytes a second; 0 = nothing. Who is
    /// slower is cut off.
    package var minimumRate: Int64 = 0
    package var slowGrace = Duration.seconds(30)
    /// How long a header section may take in all, where there is a minimum rate.
    package var headerTimeout = Duration.seconds(10)
    /// Told of connections, and of limits that were reached: `connections_per_address`, `slow_client`.
    package var metrics = ConnectionMetrics()
    /// Told of every request that is over.
    package var observers: [any HTTPObserver] = []
    /// A connection on which no byte moves for so long is closed.
    package var idleTimeout = Duration.seconds(60)
    /// A body that takes longer is cut off with its connection; `nil` = never.
    package var bodyTimeout: Duration?
    /// Bytes for the header and the body's pieces; a body arrives in pieces of up to half of it.
    package var connectionMemory = 256 << 10
    /// How much of a refused body is read so that its sender gets to see the answer; bytes.
    package var maximumDrain: Int64 = 128 << 20
    /// Nil = cleartext.
    package var certificates: TLSCertificates?

    package init() {}

    /// Takes fewer connections, and of one address as large a part of them as before.
    package mutating func lower(to connections: Int) {
        let before = max(1, Int(maximumConnections))
        maximumConnections = UInt32(clamping: min(before, connections))
        maximumConnectionsPerAddress = maximumConnectionsPerAddress.map { max(1, $0 * connections / before) }
    }
}
