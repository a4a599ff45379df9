/// The streams that a client has opened, to decide on frames for streams that are no longer open (RFC 9113, sections 5.1 and
/// 5.1.1).
///
/// nghttp2 ignores all such frames, because it keeps nothing of closed streams. Three cases differ: the client skipped the
/// identifier, which closes it permanently; the client itself ended or reset the stream; or the server reset it, and the client could
/// not know that yet. Streams of the last case are remembered individually, up to a limit; frames for evicted ones are ignored.
struct OpenedStreams {
    /// The largest number of remembered streams.
    static let maxRecentlyReset = 256
    static let maxSkipped = 16

    /// The highest identifier that was used; -1 = none.
    private(set) var last: Int32 = -1
    /// Whether the stream with the highest identifier was not accepted yet. If it still is not when the next frame arrives, it was
    /// refused, by nghttp2 or by the session's host.
    private var isUntaken = false
    /// The identifiers that the client skipped.
    private var skipped: [Range<Int32>] = []
    private var recentlyReset: [Int32] = []
    /// The highest stream identifier evicted from `recentlyReset`; frames at or below it are ignored.
    private var lastEvicted: Int32 = 0

    /// Records HEADERS.
    ///
    /// - Returns: whether they open a stream; `false` also for identifiers that clients must not use, which nghttp2 refuses.
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

    /// Records that the stream that was opened last is accepted.
    mutating func isTaken() { isUntaken = false }

    /// Records that the server reset the stream while the client could still send on it.
    mutating func recordReset(_ id: Int32) {
        guard !recentlyReset.contains(id) else { return }
        if recentlyReset.count == Self.maxRecentlyReset { lastEvicted = max(lastEvicted, recentlyReset.removeFirst()) }
        recentlyReset.append(id)
    }

    /// Decides on HEADERS or DATA for a stream that is not open.
    ///
    /// - Returns: the connection error; `nil` if the frame is ignored or nghttp2 reports the error itself.
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
