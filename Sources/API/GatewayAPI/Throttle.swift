import Basics

/// Limits how often something may happen for each of many keys: a token bucket a key, bounded in number.
package final class Throttle: Sendable {
    private let perMinute: Int
    private let capacity: Int
    private let buckets = Lock<[String: TokenBucket]>([:])

    /// - Parameters:
    ///   - perMinute: how many may come in the long run, and at once after a quiet minute; above 0.
    ///   - capacity: keys remembered at a time. Over it the full buckets are forgotten, which changes nothing, and else those
    ///     with the fewest counts: who walks through keys cannot have the counts of a key in use forgotten.
    package init(perMinute: Int, capacity: Int = 10_000) {
        self.perMinute = perMinute
        self.capacity = capacity
    }

    /// Keys remembered now.
    package var keyCount: Int { buckets.withLock { $0.count } }

    /// Counts one for `key`.
    ///
    /// - Returns: `nil` when it may happen; else the milliseconds until the next one may, and nothing is counted.
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

    /// The milliseconds until the next one may happen; `nil` when it may now. Nothing is counted.
    package func wait(for key: String, at now: UnixTime) -> Int? {
        let now = now.ticks
        let bucket = buckets.withLock { $0[key] } ?? full
        return bucket.tokens(at: now) >= 1 ? nil : wait(bucket, now)
    }

    /// Takes back one that ``take(_:at:)`` counted: it was not of the kind that is limited.
    package func giveBack(_ key: String) {
        buckets.withLock { $0[key]?.giveBack() }
    }

    private var full: TokenBucket { TokenBucket(burst: perMinute, refill: perMinute, period: 60e6) }

    private func wait(_ bucket: TokenBucket, _ now: UInt64) -> Int { Int((bucket.wait(at: now) / 1000).rounded(.up)) }

    private func evict(from buckets: inout [String: TokenBucket], _ now: UInt64) {
        buckets = buckets.filter { !$0.value.isFull(at: now) }
        guard buckets.count >= capacity else { return }
        // Several at once, so that new keys do not cost a sort each.
        let fullestFirst = buckets.sorted { $0.value.tokens(at: now) > $1.value.tokens(at: now) }
        for (key, _) in fullestFirst.prefix(max(1, capacity / 8)) { buckets[key] = nil }
    }
}

extension UnixTime {
    /// Microseconds, as a bucket counts them.
    fileprivate var ticks: UInt64 { UInt64(clamping: microseconds) }
}
