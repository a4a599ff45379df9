import Basics

/// Limits how often something may happen for each of many keys: a token bucket a key, bounded in number.
package final class Throttle: Sendable {
    private struct Bucket {
        var tokens: Double
        var at: UnixTime
    }

    private let burst: Double
    private let perMicrosecond: Double
    private let capacity: Int
    private let buckets = Lock<[String: Bucket]>([:])

    /// - Parameters:
    ///   - perMinute: how many may come in the long run, and at once after a quiet minute; above 0.
    ///   - capacity: keys remembered at a time. Over it the full buckets are forgotten, which changes nothing, and else those
    ///     with the fewest counts: who walks through keys cannot have the counts of a key in use forgotten.
    package init(perMinute: Int, capacity: Int = 10_000) {
        burst = Double(perMinute)
        perMicrosecond = Double(perMinute) / 60_000_000
        self.capacity = capacity
    }

    /// Keys remembered now.
    package var keyCount: Int { buckets.withLock { $0.count } }

    /// Counts one for `key`.
    ///
    /// - Returns: `nil` when it may happen; else the milliseconds until the next one may, and nothing is counted.
    package func take(_ key: String, at now: UnixTime) -> Int? {
        buckets.withLock { buckets in
            var bucket = filled(buckets[key], now)
            if let wait = wait(bucket) { return wait }
            bucket.tokens -= 1
            if buckets[key] == nil && buckets.count >= capacity { evict(from: &buckets, now) }
            buckets[key] = bucket
            return nil
        }
    }

    /// The milliseconds until the next one may happen; `nil` when it may now. Nothing is counted.
    package func wait(for key: String, at now: UnixTime) -> Int? {
        buckets.withLock { wait(filled($0[key], now)) }
    }

    /// Takes back one that ``take(_:at:)`` counted: it was not of the kind that is limited.
    package func giveBack(_ key: String) {
        buckets.withLock { buckets in
            guard let bucket = buckets[key] else { return }
            buckets[key] = Bucket(tokens: min(burst, bucket.tokens + 1), at: bucket.at)
        }
    }

    private func filled(_ bucket: Bucket?, _ now: UnixTime) -> Bucket {
        guard let bucket else { return Bucket(tokens: burst, at: now) }
        let elapsed = Double(max(0, now.microseconds - bucket.at.microseconds))
        return Bucket(tokens: min(burst, bucket.tokens + elapsed * perMicrosecond), at: now)
    }

    private func wait(_ bucket: Bucket) -> Int? {
        bucket.tokens >= 1 ? nil : Int(((1 - bucket.tokens) / perMicrosecond / 1000).rounded(.up))
    }

    private func evict(from buckets: inout [String: Bucket], _ now: UnixTime) {
        buckets = buckets.filter { filled($0.value, now).tokens < burst }
        guard buckets.count >= capacity else { return }
        // Several at once, so that new keys do not cost a sort each.
        let fullestFirst = buckets.sorted { filled($0.value, now).tokens > filled($1.value, now).tokens }
        for (key, _) in fullestFirst.prefix(max(1, capacity / 8)) { buckets[key] = nil }
    }
}
