import Basics
import HTTP2
package import Settings

extension RPCLimits {
    /// Reads the section `rpc`: the limits for clients of the gRPC listeners.
    package init(_ settings: SettingsReader) {
        self.init()
        let section = settings.section("rpc")
        limitFrames(section)
        maxMessageSize = section.count("max_message_bytes", default: maxMessageSize, unit: "bytes")
        maxRequestBytes = section.count("max_request_bytes", default: maxRequestBytes, unit: "bytes")
        if let share = section.share("max_request_bytes_per_address", unit: "bytes") {
            maxRequestBytesPerAddress = share
        }
        maxResponseBytes = section.count("max_response_bytes", default: maxResponseBytes, unit: "bytes")
        if let share = section.share("max_response_bytes_per_address", unit: "bytes") {
            maxResponseBytesPerAddress = share
        }
        maxResponseBytesPerConnection = section.count(
            "max_response_bytes_per_connection", default: maxResponseBytesPerConnection, unit: "bytes")
        maxHandlers = section.count("max_handlers", default: maxHandlers, unit: "calls")
        if let share = section.share("max_handlers_per_address", unit: "calls") { maxHandlersPerAddress = share }
        waiting = WaitingLimits(section)
        maxConnections = section.count("max_connections", default: maxConnections, unit: "connections")
        maxConnectionsPerAddress = section.count(
            "max_connections_per_address", default: maxConnectionsPerAddress, unit: "connections")
        lifecycle = LifecycleLimits(section)
    }

    private mutating func limitFrames(_ section: SettingsReader) {
        http2.maxConcurrentStreams = section.integer(
            "max_concurrent_streams", default: http2.maxConcurrentStreams, in: 1...100_000,
            unit: "streams of a connection")
        http2.maxHeaderListSize = section.integer(
            "max_header_bytes", default: http2.maxHeaderListSize, in: 1024...65_536, unit: "bytes")
        http2.maxHeaderFields = section.count("max_header_fields", default: http2.maxHeaderFields, unit: "fields")
        http2.controlFrameBurst = section.count(
            "control_frame_burst", default: http2.controlFrameBurst, unit: "frames")
        http2.controlFramesPerSecond = section.count(
            "control_frames_per_second", default: http2.controlFramesPerSecond, unit: "frames")
        http2.resetBurst = section.count("reset_burst", default: http2.resetBurst, unit: "streams")
        http2.resetsPerSecond = section.count("resets_per_second", default: http2.resetsPerSecond, unit: "streams")
    }
}

extension WaitingLimits {
    /// Reads the limits of calls that wait, such as Health.Watch and reflection.
    fileprivate init(_ section: SettingsReader) {
        self.init()
        perConnection = section.count("max_waiting_calls_per_connection", default: perConnection, unit: "calls")
        perAddress = section.count("max_waiting_calls_per_address", default: perAddress, unit: "calls")
        perListener = section.count("max_waiting_calls", default: perListener, unit: "calls")
        lifetime = section.duration("waiting_call_seconds", default: lifetime, in: 1...31_536_000)
    }
}

extension LifecycleLimits {
    fileprivate init(_ section: SettingsReader) {
        self.init()
        handshake = section.duration("handshake_timeout_seconds", default: handshake, in: 1...31_536_000)
        stall = section.duration("stall_timeout_seconds", default: stall, in: 1...31_536_000)
        minimumRate = section.integer(
            "min_client_bytes_per_second", default: minimumRate, in: 0...(1 << 30), unit: "bytes")
        idle = section.duration("idle_timeout_seconds", default: idle, in: 0...31_536_000)
        keepaliveInterval = section.duration(
            "keepalive_interval_seconds", default: keepaliveInterval, in: 0...31_536_000)
        keepaliveTimeout = section.duration("keepalive_timeout_seconds", default: keepaliveTimeout, in: 1...31_536_000)
        age = section.duration("max_connection_age_seconds", default: age, in: 0...31_536_000)
        ageGrace = section.duration("max_connection_age_grace_seconds", default: ageGrace, in: 1...31_536_000)
    }
}

extension TrustedProxies {
    /// Reads the proxies whose `x-forwarded-for` is trusted.
    package init(_ settings: SettingsReader) {
        self.init(settings.section("rpc").addressRanges("trusted_proxies"))
    }
}

extension CrossOrigin {
    /// Reads the origins of web pages that may call a listener; `nil` without origins.
    ///
    /// - Parameter section: the listener's.
    package init?(_ section: SettingsReader) {
        let origins = section.list("cors_origins", bounds: "`https://app.example`, or `*`") ?? []
        let maxAge = section.integer("cors_max_age_seconds", default: 7200, in: 0...86_400, unit: "seconds")
        for origin in origins where origin != "*" && !Self.isOrigin(origin) {
            section.reject(
                "cors_origins",
                "must hold origins as browsers send them, like https://app.example, or *; not \(origin)")
        }
        if origins.isEmpty { return nil }
        self.init(origins: Set(origins), maxAge: maxAge)
    }

    /// Whether the text is an origin: a scheme and a host in lower case, with a port unless it is the scheme's default, and nothing
    /// after it (RFC 6454, section 6.2).
    private static func isOrigin(_ text: String) -> Bool {
        guard let scheme = ["https://", "http://"].first(where: text.hasPrefix) else { return false }
        let host = text.dropFirst(scheme.count)
        let isPlain = host.utf8.allSatisfy { $0.isASCIILowercaseAlphanumeric || "-.:[]".utf8.contains($0) }
        return !host.isEmpty && isPlain
    }
}

extension SettingsReader {
    fileprivate func count(_ name: String, default standard: Int, unit: String) -> Int {
        integer(name, default: standard, in: 1...1_000_000_000, unit: unit)
    }

    /// Reads the part of a limit for one address; `nil` = that of the limit's type.
    fileprivate func share(_ name: String, unit: String) -> Int? {
        let share = integer(name, default: 0, in: 0...1_000_000_000, unit: unit)
        return share > 0 ? share : nil
    }
}
