/// When a client is too slow: each connection costs a thread, and some memory.
///
/// A request that is under way has to move a number of bytes in each stretch of time, in whichever direction it goes. While
/// the server itself works, no time passes for the client. A connection between two requests is the idle timer's, but once
/// its next header section has begun, that has to come to its end within a time of its own.
struct TransferRule: Sendable {
    enum Activity: Int, Sendable {
        /// Between two requests.
        case waiting
        /// Bytes of a request or an answer are on their way.
        case moving
        /// The server works on what has come.
        case busy
    }

    struct Sample: Sendable {
        var activity: Activity
        /// Another one begins with each request and each answer.
        var stage: Int
        /// Whether anything was received in this stage.
        var hasBegun: Bool
        /// So far, over all stages; bytes.
        var received: UInt64
        var acknowledged: UInt64
    }

    /// Bytes a second.
    let minimumRate: Int64
    let grace: Duration
    /// For a header section, from its first byte to its last.
    let headerTimeout: Duration
    private var start: ContinuousClock.Instant
    private var first: Sample?

    /// - Parameter headerTimeout: `nil` = the grace.
    init(minimumRate: Int64, grace: Duration, headerTimeout: Duration? = nil, now: ContinuousClock.Instant) {
        self.minimumRate = minimumRate
        self.grace = grace
        self.headerTimeout = headerTimeout ?? grace
        start = now
    }

    /// - Returns: whether the connection is to be cut.
    mutating func isTooSlow(_ sample: Sample, at now: ContinuousClock.Instant) -> Bool {
        guard let first, first.stage == sample.stage, sample.activity != .busy else { return begin(sample, at: now) }
        if sample.activity == .waiting, !sample.hasBegun { return begin(sample, at: now) }
        let elapsed = now - start
        if sample.activity == .waiting { return elapsed >= headerTimeout }
        guard elapsed >= grace else { return false }
        let moved = (sample.received &- first.received) &+ (sample.acknowledged &- first.acknowledged)
        guard Double(moved) >= Double(minimumRate) * (elapsed / .seconds(1)) else { return true }
        return begin(sample, at: now)
    }

    private mutating func begin(_ sample: Sample, at now: ContinuousClock.Instant) -> Bool {
        start = now
        first = sample
        return false
    }
}
