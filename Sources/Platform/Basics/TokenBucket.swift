/// A limit on how often something may happen: a number at once, and a rate in the long run.
package struct TokenBucket: Sendable {
    private let burst: Double
    private let perTick: Double
    private var tokens: Double
    private var time: UInt64?

    /// A full bucket.
    ///
    /// - Parameters:
    ///   - burst: how many may happen at once; at least 0.
    ///   - refill: how many in the long run, in each `period`; at least 0.
    ///   - period: in ticks of the times that are passed in; a second of nanoseconds unless said otherwise.
    package init(burst: Int, refill: Int, period: Double = 1e9) {
        self.burst = Double(max(0, burst))
        perTick = Double(max(0, refill)) / period
        tokens = self.burst
    }

    /// Takes `count` tokens if there are that many at `now`, else none.
    ///
    /// - Parameter now: a clock that steps back refills nothing for the step, and goes on from there.
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

    /// Ticks until there is a token; 0 when there is one, infinite where the rate is 0.
    package func wait(at now: UInt64) -> Double { max(0, 1 - tokens(at: now)) / perTick }
}
