/// A rate limiter: a burst at once, and a rate in the long run.
package struct TokenBucket: Sendable {
    private let burst: Double
    private let perTick: Double
    private var tokens: Double
    private var time: UInt64?

    /// A full bucket.
    ///
    /// - Parameters:
    ///   - burst: the number of tokens that may be taken at once; at least 0.
    ///   - refill: the number of tokens that are added in each `period`; at least 0.
    ///   - period: in ticks of the times that are passed in; the default is one second in nanoseconds.
    package init(burst: Int, refill: Int, period: Double = 1e9) {
        self.burst = Double(max(0, burst))
        perTick = Double(max(0, refill)) / period
        tokens = self.burst
    }

    /// Takes `count` tokens if there are that many at `now`, else none.
    ///
    /// - Parameter now: after a clock that steps back no tokens are added for the step, and time continues from there.
    /// - Returns: whether they were taken.
    package mutating func take(_ count: Int = 1, at now: UInt64) -> Bool {
        tokens = tokens(at: now)
        time = now
        guard tokens >= Double(count) else { return false }
        tokens -= Double(count)
        return true
    }

    /// Puts one token back.
    package mutating func giveBack() { tokens = min(burst, tokens + 1) }

    package func tokens(at now: UInt64) -> Double {
        guard let time, now > time else { return tokens }
        return min(burst, tokens + Double(now - time) * perTick)
    }

    package func isFull(at now: UInt64) -> Bool { tokens(at: now) >= burst }

    /// Returns the ticks until there is a token; 0 if there is one, infinite if the rate is 0.
    package func wait(at now: UInt64) -> Double { max(0, 1 - tokens(at: now)) / perTick }
}
