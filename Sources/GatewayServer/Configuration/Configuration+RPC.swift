import Basics
import Capability
import RPC

extension Configuration {
    /// Reads the section `rpc`: the limits for clients of the gRPC listeners.
    static func rpcLimits(_ reader: inout ConfigurationReader) throws(ConfigurationError) -> RPCLimits {
        var limits = RPCLimits()
        let http2 = limits.http2
        limits.http2.maxConcurrentStreams = UInt32(
            try reader.integer(
                "rpc.max_concurrent_streams", default: Int64(http2.maxConcurrentStreams), in: 1...100_000,
                unit: "streams of a connection"))
        limits.http2.maxHeaderListSize = UInt32(
            try reader.integer(
                "rpc.max_header_bytes", default: Int64(http2.maxHeaderListSize), in: 1024...65_536, unit: "bytes"))
        limits.http2.maxHeaderFields = try count(&reader, "rpc.max_header_fields", http2.maxHeaderFields, "fields")
        limits.http2.controlFrameBurst = try count(
            &reader, "rpc.control_frame_burst", http2.controlFrameBurst, "frames")
        limits.http2.controlFramesPerSecond = try count(
            &reader, "rpc.control_frames_per_second", http2.controlFramesPerSecond, "frames")
        limits.http2.resetBurst = try count(&reader, "rpc.reset_burst", http2.resetBurst, "streams")
        limits.http2.resetsPerSecond = try count(&reader, "rpc.resets_per_second", http2.resetsPerSecond, "streams")
        limits.maxMessageSize = try count(&reader, "rpc.max_message_bytes", limits.maxMessageSize, "bytes")
        limits.maxRequestBytes = try count(&reader, "rpc.max_request_bytes", limits.maxRequestBytes, "bytes")
        let requestsPerAddress = try reader.integer(
            "rpc.max_request_bytes_per_address", default: 0, in: 0...1_000_000_000, unit: "bytes")
        if requestsPerAddress > 0 { limits.maxRequestBytesPerAddress = Int(requestsPerAddress) }
        try limitResponses(&reader, &limits)
        limits.maxHandlers = try count(&reader, "rpc.max_handlers", limits.maxHandlers, "calls")
        let perAddress = try reader.integer(
            "rpc.max_handlers_per_address", default: 0, in: 0...1_000_000_000, unit: "calls")
        if perAddress > 0 { limits.maxHandlersPerAddress = Int(perAddress) }
        limits.waiting = try waiting(&reader)
        limits.maxConnections = try count(&reader, "rpc.max_connections", limits.maxConnections, "connections")
        limits.maxConnectionsPerAddress = try count(
            &reader, "rpc.max_connections_per_address", limits.maxConnectionsPerAddress, "connections")
        limits.lifecycle = try lifecycle(&reader)
        return limits
    }

    /// Reads the origins of web pages that may call the gateway; `nil` without origins.
    ///
    /// - Parameter section: the section with the keys.
    static func crossOrigin(
        _ reader: inout ConfigurationReader, section: String = "rpc"
    ) throws(ConfigurationError) -> CrossOrigin? {
        let key = "\(section).cors_origins"
        let origins = try reader.list(key, bounds: "`https://app.example`, or `*`") ?? []
        let maxAge = try reader.integer(
            "\(section).cors_max_age_seconds", default: 7200, in: 0...86_400, unit: "seconds")
        for origin in origins where origin != "*" && !isOrigin(origin) {
            throw reader.wrong(
                key,
                "must hold origins as browsers send them, like https://app.example, or *; not \(origin)")
        }
        return origins.isEmpty ? nil : CrossOrigin(origins: Set(origins), maxAge: Int(maxAge))
    }

    /// Whether the text is an origin: a scheme and a host in lower case, with a port unless it is the scheme's default, and nothing
    /// after it (RFC 6454, section 6.2).
    private static func isOrigin(_ text: String) -> Bool {
        guard let scheme = ["https://", "http://"].first(where: text.hasPrefix) else { return false }
        let host = text.dropFirst(scheme.count)
        let isPlain = host.utf8.allSatisfy { $0.isASCIILowercaseAlphanumeric || "-.:[]".utf8.contains($0) }
        return !host.isEmpty && isPlain
    }

    /// Reads the limits of responses that wait for their clients.
    private static func limitResponses(
        _ reader: inout ConfigurationReader, _ limits: inout RPCLimits
    ) throws(ConfigurationError) {
        limits.maxResponseBytes = try count(&reader, "rpc.max_response_bytes", limits.maxResponseBytes, "bytes")
        let perAddress = try reader.integer(
            "rpc.max_response_bytes_per_address", default: 0, in: 0...1_000_000_000, unit: "bytes")
        if perAddress > 0 { limits.maxResponseBytesPerAddress = Int(perAddress) }
        limits.maxResponseBytesPerConnection = try count(
            &reader, "rpc.max_response_bytes_per_connection", limits.maxResponseBytesPerConnection, "bytes")
    }

    /// Returns the limits of one listener. They are higher for the internal one, whose clients are trusted programs that read large
    /// responses in parallel.
    package func rpcLimits(of name: ListenerName) -> RPCLimits {
        var limits = rpc
        if name == .internalStorage {
            limits.maxResponseBytes = max(limits.maxResponseBytes, 16 * Int(internalStorage.maximumReadBytes))
            limits.maxResponseBytesPerAddress = limits.maxResponseBytes
        }
        return limits
    }

    /// Reads the limits of calls that wait, such as Health.Watch and reflection.
    private static func waiting(_ reader: inout ConfigurationReader) throws(ConfigurationError) -> WaitingLimits {
        var limits = WaitingLimits()
        limits.perConnection = try count(
            &reader, "rpc.max_waiting_calls_per_connection", limits.perConnection, "calls")
        limits.perAddress = try count(
            &reader, "rpc.max_waiting_calls_per_address", limits.perAddress, "calls")
        limits.perListener = try count(&reader, "rpc.max_waiting_calls", limits.perListener, "calls")
        limits.lifetime = try reader.duration("rpc.waiting_call_seconds", default: limits.lifetime, in: 1...31_536_000)
        return limits
    }

    private static func lifecycle(_ reader: inout ConfigurationReader) throws(ConfigurationError) -> LifecycleLimits {
        var limits = LifecycleLimits()
        limits.handshake = try reader.duration(
            "rpc.handshake_timeout_seconds", default: limits.handshake, in: 1...31_536_000)
        limits.stall = try reader.duration("rpc.stall_timeout_seconds", default: limits.stall, in: 1...31_536_000)
        limits.minimumRate = Int(
            try reader.integer(
                "rpc.min_client_bytes_per_second", default: Int64(limits.minimumRate), in: 0...(1 << 30), unit: "bytes")
        )
        limits.idle = try reader.duration("rpc.idle_timeout_seconds", default: limits.idle, in: 0...31_536_000)
        limits.keepaliveInterval = try reader.duration(
            "rpc.keepalive_interval_seconds", default: limits.keepaliveInterval, in: 0...31_536_000)
        limits.keepaliveTimeout = try reader.duration(
            "rpc.keepalive_timeout_seconds", default: limits.keepaliveTimeout, in: 1...31_536_000)
        limits.age = try reader.duration("rpc.max_connection_age_seconds", default: limits.age, in: 0...31_536_000)
        limits.ageGrace = try reader.duration(
            "rpc.max_connection_age_grace_seconds", default: limits.ageGrace, in: 1...31_536_000)
        return limits
    }

    private static func count(
        _ reader: inout ConfigurationReader, _ key: String, _ standard: Int, _ unit: String
    ) throws(ConfigurationError) -> Int {
        Int(try reader.integer(key, default: Int64(standard), in: 1...1_000_000_000, unit: unit))
    }
}
