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

/// Repeats an operation while its failures are transient.
package struct Retrying: Sendable {
    private let policy: RetryPolicy
    private let failureKind: @Sendable (any Error) -> FailureKind
    private let notice: @Sendable (_ what: String, _ reason: any Error, _ delay: Duration) -> Void

    /// - Parameter notice: called before each wait.
    package init(
        policy: RetryPolicy, failureKind: @escaping @Sendable (any Error) -> FailureKind,
        notice: @escaping @Sendable (_ what: String, _ reason: any Error, _ delay: Duration) -> Void
    ) {
        self.policy = policy
        self.failureKind = failureKind
        self.notice = notice
    }

    /// - Parameter what: a description for people, e.g. `part 3`.
    /// - Throws: the last failure once the policy gives up; a permanent failure at once.
    package func run<Result>(_ what: String, _ body: () async throws -> Result) async throws -> Result {
        var failures = 0
        var firstFailure: ContinuousClock.Instant?
        while true {
            do {
                return try await body()
            } catch {
                guard case .transient(let least) = failureKind(error) else { throw error }
                let now = ContinuousClock.now
                let first = firstFailure ?? now
                firstFailure = first
                failures += 1
                guard
                    let delay = policy.delay(
                        failures: failures, elapsed: now - first, least: least, random: .random(in: 0...1))
                else { throw error }
                notice(what, error, delay)
                try await Task.sleep(for: delay)
            }
        }
    }
}
