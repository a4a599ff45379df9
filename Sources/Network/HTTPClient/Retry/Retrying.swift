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
