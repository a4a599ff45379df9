/// Which streams a client has opened, so that a frame for one that is open no more can be judged (RFC 9113, sections 5.1
/// and 5.1.1).
///
/// nghttp2 ignores all such frames, for it keeps nothing of closed streams. Three kinds have to be told apart: the client
/// skipped the identifier, which closes it for good; the client itself ended or reset the stream; we reset it, and what
/// the client sent meanwhile is no fault of its. The last kind is remembered one by one, up to a bound below which
/// everything is ignored.
struct OpenedStreams {
    /// Streams, and ranges of skipped identifiers, that are remembered.
    static let maxRecentlyReset = 256
    static let maxSkipped = 16

    /// The highest identifier that was used; -1 = none.
    private(set) var last: Int32 = -1
    /// The stream with the highest identifier was not accepted yet: if it still is not when the next frame comes, it was
    /// refused, by nghttp2 or by the session's host.
    private var isUntaken = false
    /// Identifiers that the client went past.
    private var skipped: [Range<Int32>] = []
    private var recentlyReset: [Int32] = []
    /// The highest stream identifier evicted from `recentlyReset`; frames at or below it are ignored.
    private var lastEvicted: Int32 = 0

    /// HEADERS came.
    ///
    /// - Returns: whether they open a stream; `false` also for identifiers that no client may use, which nghttp2 refuses.
    mutating func opens(_ id: Int32) -> Bool {
        guard id > last, id & 1 == 1 else { return false }
        recordUnopened()
        if id > last + 2 {
            if skipped.count == Self.maxSkipped { skipped.removeFirst() }
            skipped.append(last + 1..<id)
        }
        last = id
        isUntaken = true
        return true
    }

    /// The stream that was opened last is accepted.
    mutating func isTaken() { isUntaken = false }

    /// We reset the stream while the client could still send on it.
    mutating func recordReset(_ id: Int32) {
        guard !recentlyReset.contains(id) else { return }
        if recentlyReset.count == Self.maxRecentlyReset { lastEvicted = max(lastEvicted, recentlyReset.removeFirst()) }
        recentlyReset.append(id)
    }

    /// HEADERS or DATA came for a stream that is not open.
    ///
    /// - Returns: the connection's error; `nil` where the frame is to be ignored, or nghttp2 finds the fault itself.
    mutating func fault(_ id: Int32) -> HTTP2ErrorCode? {
        recordUnopened()
        guard id & 1 == 1, id <= last, id > lastEvicted, !recentlyReset.contains(id) else { return nil }
        return skipped.contains { $0.contains(id) } ? .protocolError : .streamClosed
    }

    private mutating func recordUnopened() {
        guard isUntaken else { return }
        isUntaken = false
        recordReset(last)
    }
}
