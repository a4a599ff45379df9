import HTTPServer
import RPC

extension Configuration {
    /// Reads the section `web`: the limits of the listener for calls over HTTP/1.1.
    ///
    /// - Parameter proxies: addresses that represent many clients.
    static func web(
        _ reader: inout ConfigurationReader, _ proxies: TrustedProxies
    ) throws(ConfigurationError) -> HTTPServerConfiguration {
        var web = HTTPServerConfiguration()
        web.connectionMemory = 128 << 10
        web.maximumDrain = 16 << 20
        // Its calls run on the event loops, and an archive's bytes are less urgent than those.
        web.niceness = 10
        web.maximumConnections = UInt32(
            try reader.integer("web.max_connections", default: 256, in: 1...10_000, unit: "connections"))
        let perAddress = try reader.integer(
            "web.max_connections_per_address", default: 0, in: 0...10_000, unit: "connections")
        web.maximumConnectionsPerAddress = perAddress > 0 ? Int(perAddress) : web.quarter
        web.proxies = proxies.ranges
        web.idleTimeout = try reader.duration("web.idle_timeout_seconds", default: .seconds(60), in: 1...3600)
        web.headerTimeout = try reader.duration("web.header_timeout_seconds", default: .seconds(10), in: 1...3600)
        web.bodyTimeout = try reader.duration("web.body_timeout_seconds", default: .seconds(60), in: 1...3600)
        web.minimumRate = try reader.integer(
            "web.min_client_bytes_per_second", default: 1024, in: 0...(1 << 30), unit: "bytes")
        web.slowGrace = .seconds(
            try reader.integer("web.slow_client_grace_seconds", default: 30, in: 1...3600, unit: "seconds"))
        return web
    }

    /// Returns the limits of the ops listener: those of the web listener, with fewer connections.
    static func ops(_ web: HTTPServerConfiguration) -> HTTPServerConfiguration {
        var ops = HTTPServerConfiguration()
        ops.maximumConnections = 64
        ops.maximumConnectionsPerAddress = ops.quarter
        (ops.minimumRate, ops.slowGrace, ops.headerTimeout) = (web.minimumRate, web.slowGrace, web.headerTimeout)
        return ops
    }
}

extension HTTPServerConfiguration {
    /// A quarter of the connections, which is the default limit for one address.
    fileprivate var quarter: Int { max(1, Int(maximumConnections) / 4) }
}
