package import HTTPTypes
package import Settings

extension HTTPServerConfiguration {
    /// Reads the section `web`: the limits of the listener for calls over HTTP/1.1.
    ///
    /// - Parameter proxies: addresses that represent many clients.
    package static func web(_ settings: SettingsReader, proxies: [AddressRange]) -> HTTPServerConfiguration {
        var web = HTTPServerConfiguration()
        let section = settings.section("web")
        web.connectionMemory = 128 << 10
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
