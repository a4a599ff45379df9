import Basics

/// Watches what a peer sends that costs us and gets nothing done, and says when it is too much.
///
/// What nghttp2 does not bound itself: PING, SETTINGS, PRIORITY and empty DATA floods (CVE-2019-9512, -9515, -9513,
/// -9518), and streams that a peer makes *us* reset (CVE-2025-8671), which its limit on resets received does not count.
/// A peer whose calls move data is never punished for its PINGs: clients measure the connection with them.
struct PeerAbuseDetector: Sendable {
    /// What a peer did too often.
    enum Excess: String, Sendable, CaseIterable {
        case controlFrames = "control_frames"
        case resets = "resets"
        case headerSections = "header_sections"
    }

    private var controlFrames: TokenBucket
    private var resets: TokenBucket
    private var headerSections: TokenBucket
    private var hasDataFlowed = true

    init(_ settings: HTTP2Settings) {
        controlFrames = TokenBucket(
            burst: settings.controlFrameBurst, refill: settings.controlFramesPerSecond)
        resets = TokenBucket(burst: settings.resetBurst, refill: settings.resetsPerSecond)
        headerSections = TokenBucket(burst: settings.oversizedHeaderBurst, refill: 1)
    }

    /// HEADERS came, or DATA with bytes went either way.
    mutating func dataFlowed() { hasDataFlowed = true }

    /// A PING, SETTINGS or PRIORITY came, or DATA without a byte.
    mutating func controlFrame(at now: UInt64) -> Excess? {
        if hasDataFlowed {
            hasDataFlowed = false
            return nil
        }
        return controlFrames.take(at: now) ? nil : .controlFrames
    }

    /// We reset a stream because of what the peer did on it.
    mutating func madeUsReset(at now: UInt64) -> Excess? {
        resets.take(at: now) ? nil : .resets
    }

    /// A header section was over the limit.
    mutating func oversizedHeaders(at now: UInt64) -> Excess? {
        headerSections.take(at: now) ? nil : .headerSections
    }
}
