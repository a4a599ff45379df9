/// How often, and how long after each other, something is tried that failed for a reason that may pass.
package struct RetryPolicy: Sendable, Hashable {
    /// The longest wait after the first failure; it doubles with each one after it.
    package var base: Duration = .milliseconds(500)
    /// The longest wait of all.
    package var cap: Duration = .seconds(30)
    /// Failures that are allowed in any case, however long each took: an attempt may be an hour of sending.
    package var attempts = 6
    /// How long after the first failure a further attempt may begin.
    package var patience: Duration = .seconds(300)

    package init(patience: Duration = .seconds(300)) {
        self.patience = patience
    }

    /// How long to wait before the next attempt; `nil` = give up.
    ///
    /// Half of the wait is drawn by lot, so that a thousand devices which lost one gateway do not come back as one.
    ///
    /// - Parameters:
    ///   - failures: so far, at least 1.
    ///   - elapsed: since the first of them.
    ///   - least: what the server asked for.
    ///   - random: 0 to 1.
    package func delay(failures: Int, elapsed: Duration, least: Duration?, random: Double) -> Duration? {
        let ceiling = min(cap, base * (1 << min(max(failures - 1, 0), 16)))
        let delay = max(ceiling * (0.5 + random / 2), min(least ?? .zero, max(cap, patience)))
        return failures < attempts || elapsed + delay <= patience ? delay : nil
    }
}
