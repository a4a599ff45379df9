package import Basics
import Synchronization

/// A rate limit for each of many keys: one token bucket for each key, and a limited number of buckets.
package final class Throttle: Sendable {
    private let limit: Int
    /// The time in which a key may have `limit` events, in microseconds.
    private let period: Double
    private let capacity: Int
    private let buckets = Lock<[String: TokenBucket]>([:])

    /// - Parameters:
    ///   - perMinute: the limit in the long run, and the burst after a quiet minute; above 0.
    ///   - capacity: the number of stored keys. Beyond it, full buckets are dropped, which changes nothing, and then those with the
    ///     fewest counts, so that a caller who tries many keys cannot reset the counts of a key in use.
    package init(perMinute: Int, capacity: Int = 10_000) {
        (limit, period) = (perMinute, 60e6)
        self.capacity = capacity
    }

    /// - Parameter perHour: the limit in the long run, and the burst after a quiet hour; above 0.
    package init(perHour: Int, capacity: Int = 10_000) {
        (limit, period) = (perHour, 3600e6)
        self.capacity = capacity
    }

    /// The number of stored keys.
    package var keyCount: Int { buckets.withLock { $0.count } }

    /// Counts an event for `key`.
    ///
    /// - Returns: `nil` if it is permitted; else the milliseconds until the next one is, and nothing is counted.
    package func take(_ key: String, at now: UnixTime) -> Int? {
        let now = now.ticks
        return buckets.withLock { buckets in
            var bucket = buckets[key] ?? full
            guard bucket.take(at: now) else { return wait(bucket, now) }
            if buckets[key] == nil && buckets.count >= capacity { evict(from: &buckets, now) }
            buckets[key] = bucket
            return nil
        }
    }

    /// Returns the milliseconds until the next event is permitted; `nil` if it is now. Counts nothing.
    package func wait(for key: String, at now: UnixTime) -> Int? {
        let now = now.ticks
        let bucket = buckets.withLock { $0[key] } ?? full
        return bucket.tokens(at: now) >= 1 ? nil : wait(bucket, now)
    }

    /// Uncounts an event of ``take(_:at:)`` that turned out not to be limited.
    package func giveBack(_ key: String) {
        buckets.withLock { $0[key]?.giveBack() }
    }

    private var full: TokenBucket { TokenBucket(burst: limit, refill: limit, period: period) }

    private func wait(_ bucket: TokenBucket, _ now: UInt64) -> Int { Int((bucket.wait(at: now) / 1000).rounded(.up)) }

    private func evict(from buckets: inout [String: TokenBucket], _ now: UInt64) {
        buckets = buckets.filter { !$0.value.isFull(at: now) }
        guard buckets.count >= capacity else { return }
        // Several at once, so that not every new key costs a sort.
        let fullestFirst = buckets.sorted { $0.value.tokens(at: now) > $1.value.tokens(at: now) }
        for (key, _) in fullestFirst.prefix(max(1, capacity / 8)) { buckets[key] = nil }
    }
}

extension UnixTime {
    /// The time in the buckets' unit, microseconds.
    fileprivate var ticks: UInt64 { UInt64(clamping: microseconds) }
}
