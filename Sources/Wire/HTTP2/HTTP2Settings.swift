/// What one side of a connection announces, and how much it takes.
public struct HTTP2Settings: Sendable {
    /// Streams that the peer may have open at once (SETTINGS_MAX_CONCURRENT_STREAMS).
    public var maxConcurrentStreams: UInt32 = 256
    /// Bytes of DATA that the peer may send on one stream before we ask for more (SETTINGS_INITIAL_WINDOW_SIZE).
    public var streamWindow: Int32 = 256 * 1024
    /// The same for the connection as a whole (RFC 9113, section 6.9.2).
    public var connectionWindow: Int32 = 1024 * 1024
    /// Bytes of one header section, 32 counted for each field (SETTINGS_MAX_HEADER_LIST_SIZE, RFC 9113 section 6.5.2).
    public var maxHeaderListSize: UInt32 = 16 * 1024
    /// Fields of one header section.
    public var maxHeaderFields = 100
    /// PING, SETTINGS, PRIORITY and empty DATA frames that may come at once while no data flows, and in the long run.
    public var controlFrameBurst = 200
    public var controlFramesPerSecond = 10
    /// Streams that a peer may make us reset at once, and in the long run.
    public var resetBurst = 200
    public var resetsPerSecond = 20
    /// Header sections over their limit that are refused one by one; then the connection is, one a second recentlyReset.
    public var oversizedHeaderBurst = 20

    public init() {}
}
