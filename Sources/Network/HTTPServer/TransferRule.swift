/// The rule for clients that are too slow, since each connection occupies a thread and memory.
///
/// A request in progress has to move a number of bytes in each period, in either direction. Time in which the server itself works
/// does not count. Between two requests the idle timeout applies, but once a header section has begun it has to be complete within
/// a time of its own.
struct TransferRule: Sendable {
    enum Activity: Int, Sendable {
        /// Between two requests.
        case waiting
        /// Bytes of a request or a response are being transferred.
        case moving
        /// The server processes what it has received.
        case busy
    }

    struct Sample: Sendable {
        var activity: Activity
        /// The number of the stage; a new one begins with each request and each response.
        var stage: Int
        /// Whether anything was received in this stage.
        var hasBegun: Bool
        /// Bytes received and acknowledged so far, over all stages.
        var received: UInt64
        var acknowledged: UInt64
    }

    /// In bytes a second.
    let minimumRate: Int64
    let grace: Duration
    /// The time limit for a header section, from its first byte to its last.
    let headerTimeout: Duration
    private var start: ContinuousClock.Instant
    private var first: Sample?

    /// - Parameter headerTimeout: `nil` = `grace`.
    init(minimumRate: Int64, grace: Duration, headerTimeout: Duration? = nil, now: ContinuousClock.Instant) {
        self.minimumRate = minimumRate
        self.grace = grace
        self.headerTimeout = headerTimeout ?? grace
        start = now
    }

    /// - Returns: whether the connection has to be cut off.
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
