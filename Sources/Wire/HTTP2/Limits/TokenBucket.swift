/// So many at once, and so many a second in the long run.
struct TokenBucket: Sendable {
    private let capacity: Double
    private let perNanosecond: Double
    private var tokens: Double
    private var time: UInt64?

    init(burst: Int, perSecond: Int) {
        capacity = Double(max(0, burst))
        perNanosecond = Double(max(0, perSecond)) / 1e9
        tokens = capacity
    }

    /// - Parameter now: nanoseconds of the monotonic clock.
    /// - Returns: whether there were so many tokens left; where not, none is taken.
    mutating func take(_ count: Int = 1, at now: UInt64) -> Bool {
        if let time, now > time { tokens = min(capacity, tokens + Double(now - time) * perNanosecond) }
        time = now
        guard tokens >= Double(count) else { return false }
        tokens -= Double(count)
        return true
    }
}
