import Basics
package import HTTPTypes
package import Settings
package import Sockets

/// The limits of an HTTP/1.1 server on its clients.
package struct HTTPServerConfiguration: Sendable {
    package var validator = RequestValidator()
    package var maximumConnections: UInt32 = 256
    /// The limit of connections from one address; further ones are closed at once; `nil` = no such limit.
    package var maximumConnectionsPerAddress: Int?
    /// The number of requests at work for each address, while the caller is not known, and for each owner of credentials; others wait.
    /// An eighth of the connections, and at least 16.
    package var requestsAtWork: Int { max(16, Int(maximumConnections) / 8) }
    /// The niceness of the threads of connections; see ``ThreadPriority``.
    package var niceness: Int32 = 0
    /// Addresses of proxies, which represent many clients and are exempt from that limit.
    package var proxies: [AddressRange] = []
    /// The rate in bytes a second that a client has to reach in each `slowGrace` of a request or a response; 0 = none. Slower
    /// clients are disconnected.
    package var minimumRate: Int64 = 0
    package var slowGrace = Duration.seconds(30)
    /// The longest time for a header section, if there is a minimum rate.
    package var headerTimeout = Duration.seconds(10)
    /// Counts connections, and reached limits: `connections_per_address`, `requests_at_work`, `slow_client`.
    package var metrics = ConnectionMetrics()
    /// Notified of every completed request.
    package var observers: [any HTTPObserver] = []
    /// The time without any byte after which a connection is closed.
    package var idleTimeout = Duration.seconds(60)
    /// The time after which an incomplete body is cut off with its connection; `nil` = never.
    package var bodyTimeout: Duration?
    /// The memory in bytes for the header and for pieces of the body; a piece is up to half of it. The library clears all of it after
    /// each request.
    package var connectionMemory = 128 << 10
    /// The number of bytes of a refused body that are read so that its sender sees the response.
    package var maximumDrain: Int64 = 128 << 20
    /// The certificates for TLS; `nil` = cleartext.
    package var certificates: TLSCertificates?

    package init() {}

    /// Lowers the limit of connections, and the limit for one address in proportion.
    package mutating func lower(to connections: Int) {
        let before = max(1, Int(maximumConnections))
        maximumConnections = UInt32(clamping: min(before, connections))
        maximumConnectionsPerAddress = maximumConnectionsPerAddress.map { max(1, $0 * connections / before) }
    }
}

extension HTTPServerConfiguration {
    /// Reads the section `web`: the limits of the listener for calls over HTTP/1.1.
    ///
    /// - Parameter proxies: addresses that represent many clients.
    package static func web(_ settings: SettingsReader, proxies: [AddressRange]) -> HTTPServerConfiguration {
        var web = HTTPServerConfiguration()
        let section = settings.section("web")
        web.maximumDrain = 16 << 20
        // Its calls run on the event loops, and an archive's bytes are less urgent than those.
        web.niceness = 10
        web.readConnections(section)
        web.proxies = proxies
        web.idleTimeout = section.duration("idle_timeout_seconds", default: web.idleTimeout, in: 1...3600)
        web.headerTimeout = section.duration("header_timeout_seconds", default: web.headerTimeout, in: 1...3600)
        web.bodyTimeout = section.duration("body_timeout_seconds", default: .seconds(60), in: 1...3600)
        web.minimumRate = section.integer(
            "min_client_bytes_per_second", default: 1024, in: 0...(1 << 30), unit: "bytes")
        web.slowGrace = section.duration("slow_client_grace_seconds", default: web.slowGrace, in: 1...3600)
        return web
    }

    /// Reads the limits of connections.
    package mutating func readConnections(_ section: SettingsReader) {
        maximumConnections = section.integer(
            "max_connections", default: 256, in: 1...10_000, unit: "connections")
        let perAddress = section.integer(
            "max_connections_per_address", default: 0, in: 0...10_000, unit: "connections")
        maximumConnectionsPerAddress = perAddress > 0 ? perAddress : quarter
    }

    /// Returns the limits of the ops listener: those of this one, the web listener, with fewer connections.
    package var ops: HTTPServerConfiguration {
        var ops = HTTPServerConfiguration()
        ops.maximumConnections = 64
        ops.maximumConnectionsPerAddress = ops.quarter
        (ops.minimumRate, ops.slowGrace, ops.headerTimeout) = (minimumRate, slowGrace, headerTimeout)
        return ops
    }

    /// A quarter of the connections, which is the default limit for one address.
    private var quarter: Int { max(1, Int(maximumConnections) / 4) }
}
