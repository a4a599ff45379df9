import HTTPServer
package import Settings

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
