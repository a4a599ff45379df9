import Basics

/// Detects peers that send too many frames that cost work without making progress.
///
/// It covers what nghttp2 does not limit itself: floods of PING, SETTINGS, PRIORITY and empty DATA frames (CVE-2019-9512, -9515,
/// -9513, -9518), and streams that a peer causes the *server* to reset (CVE-2025-8671), which nghttp2's limit on received resets
/// does not count. PINGs of a peer whose calls move data are never counted: clients measure the connection with them.
struct PeerAbuseDetector: Sendable {
    /// The limit that a peer exceeded.
    enum Excess: String, Sendable, CaseIterable {
        case controlFrames = "control_frames"
        case resets = "resets"
        case headerSections = "header_sections"
    }

    private var controlFrames: TokenBucket
    /// `nil` = without a limit, also below.
    private var resets: TokenBucket?
    private var headerSections: TokenBucket?
    private var hasDataFlowed = true

    init(_ settings: HTTP2Settings) {
        controlFrames = TokenBucket(
            burst: settings.controlFrameBurst, refill: settings.controlFramesPerSecond)
        guard !settings.isProxied else { return }
        resets = TokenBucket(burst: settings.resetBurst, refill: settings.resetsPerSecond)
        headerSections = TokenBucket(burst: settings.oversizedHeaderBurst, refill: 1)
    }

    /// Records HEADERS, or DATA with bytes in either direction.
    mutating func dataFlowed() { hasDataFlowed = true }

    /// Records a PING, SETTINGS or PRIORITY frame, or DATA without bytes.
    mutating func controlFrame(at now: UInt64) -> Excess? {
        if hasDataFlowed {
            hasDataFlowed = false
            return nil
        }
        return controlFrames.take(at: now) ? nil : .controlFrames
    }

    /// Records a stream that was reset because of what the peer did on it.
    mutating func madeUsReset(at now: UInt64) -> Excess? {
        resets?.take(at: now) ?? true ? nil : .resets
    }

    /// Records a header section over the size limit.
    mutating func oversizedHeaders(at now: UInt64) -> Excess? {
        headerSections?.take(at: now) ?? true ? nil : .headerSections
    }
}
