/// The retryability of a failure; the one classification for clients, copies and device uploads.
package enum FailureKind: Sendable, Hashable {
    /// Worth a retry, but not before the time that the server asked for.
    case transient(after: Duration? = nil)
    case permanent
}

/// The number and the spacing of attempts after transient failures.
package struct RetryPolicy: Sendable, Hashable {
    /// The longest wait after the first failure; it doubles with each further failure.
    package var base: Duration = .milliseconds(500)
    /// The upper limit of all waits.
    package var cap: Duration = .seconds(30)
    /// The number of failures that are always tolerated, however long they took: a single attempt may send for an hour.
    package var attempts = 6
    /// The time after the first failure in which a further attempt may begin.
    package var retryDuration: Duration = .seconds(300)

    package init(retryDuration: Duration = .seconds(300)) {
        self.retryDuration = retryDuration
    }

    /// Returns the wait before the next attempt; `nil` = give up.
    ///
    /// Half of the wait is random, so that a thousand devices that lost the same gateway do not all return at once.
    ///
    /// - Parameters:
    ///   - failures: the failures so far, at least 1.
    ///   - elapsed: the time since the first of them.
    ///   - least: the wait that the server asked for.
    ///   - random: 0 to 1.
    package func delay(failures: Int, elapsed: Duration, least: Duration?, random: Double) -> Duration? {
        let ceiling = min(cap, base * (1 << min(max(failures - 1, 0), 16)))
        let delay = max(ceiling * (0.5 + random / 2), min(least ?? .zero, max(cap, retryDuration)))
        return failures < attempts || elapsed + delay <= retryDuration ? delay : nil
    }
}
