package import HTTPServer
package import Settings

/// The settings of the object store's server.
package struct StoreServerConfiguration: Sendable {
    /// The lower-case domains under which a host's first label is the bucket, e.g. `oss-lab.example.com`. Requests to any other
    /// host are in path style.
    package var bucketDomains: [String] = []
    /// The host and port of the public endpoint, which S3 clients sign; `nil` if they use the listener's address.
    package var publicAuthority: String?
    /// The largest difference of a client's signed date; `nil` = the date is not checked.
    package var maximumClockSkew: Duration?
    /// The origins whose scripts may use the store in a browser, e.g. `https://viewer.example.com`; `*` = all.
    package var corsOrigins: [String] = []
    package var daemon = HTTPServerConfiguration()
    /// Called for every request with a 5xx response, with its request id and the error.
    package var report: @Sendable (String, any Error) -> Void = { _, _ in }

    package init() {}
}

extension StoreServerConfiguration {
    /// Reads the keys of the section `object_store` about clients.
    package init(_ settings: SettingsReader) {
        self.init()
        let section = settings.section("object_store")
        daemon = Self.daemon(section)
        let key = "cors_origins"
        corsOrigins = section.list(key, bounds: "`https://HOST[:PORT]`, `*`") ?? []
        if !corsOrigins.allSatisfy(Self.isOrigin) {
            section.reject(key, "must hold origins like https://viewer.example.com, in lower case, or *")
        }
        let skew = section.duration("max_clock_skew_seconds", default: .zero, in: 0...31_536_000)
        maximumClockSkew = skew == .zero ? nil : skew
    }

    private static func daemon(_ section: SettingsReader) -> HTTPServerConfiguration {
        var daemon = HTTPServerConfiguration()
        daemon.maximumConnections = section.integer(
            "max_connections", default: daemon.maximumConnections, in: 1...10_000, unit: "connections")
        let perAddress: Int = section.integer(
            "max_connections_per_address", default: 192, in: 1...10_000, unit: "connections")
        daemon.maximumConnectionsPerAddress = perAddress
        daemon.minimumRate = section.integer(
            "min_client_bytes_per_second", default: 1024, in: 0...(1 << 30), unit: "bytes")
        daemon.slowGrace = section.duration("slow_client_grace_seconds", default: daemon.slowGrace, in: 1...3600)
        daemon.headerTimeout = section.duration("header_timeout_seconds", default: daemon.headerTimeout, in: 1...3600)
        return daemon
    }

    private static func isOrigin(_ origin: String) -> Bool {
        if origin == "*" { return true }
        let rest = ["https://", "http://"].first(where: origin.hasPrefix).map { origin.dropFirst($0.count) }
        guard let rest else { return false }
        return !rest.isEmpty && !rest.contains("/") && origin == origin.lowercased()
    }
}
