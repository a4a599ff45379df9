/// The settings that one side of a connection announces, and its limits.
public struct HTTP2Settings: Sendable {
    /// The number of streams that the peer may have open at once (SETTINGS_MAX_CONCURRENT_STREAMS).
    public var maxConcurrentStreams: UInt32 = 256
    /// Bytes of DATA that the peer may send on one stream before its window is opened again (SETTINGS_INITIAL_WINDOW_SIZE).
    public var streamWindow: Int32 = 256 * 1024
    /// Bytes of DATA that the peer may send on the connection as a whole (RFC 9113, section 6.9.2).
    public var connectionWindow: Int32 = 1024 * 1024
    /// Bytes of one header section, plus 32 for each field (SETTINGS_MAX_HEADER_LIST_SIZE, RFC 9113 section 6.5.2).
    public var maxHeaderListSize: UInt32 = 16 * 1024
    /// The largest number of fields in one header section.
    public var maxHeaderFields = 100
    /// The burst and the rate of PING, SETTINGS, PRIORITY and empty DATA frames while no data flows.
    public var controlFrameBurst = 200
    public var controlFramesPerSecond = 10
    /// The burst and the rate of streams that the peer may cause to be reset.
    public var resetBurst = 200
    public var resetsPerSecond = 20
    /// The burst of header sections over the size limit that are rejected one by one; the rate is one a second. Above it the
    /// connection is terminated.
    public var oversizedHeaderBurst = 20
    /// Whether the peer passes on the streams of many clients, for whose resets and large header sections the connection does not end.
    public var isProxied = false

    public init() {}
}
