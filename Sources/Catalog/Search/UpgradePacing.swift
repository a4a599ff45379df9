import Basics

/// The pace at which objects of earlier versions are added to tables while the gateway serves: in small transactions, each of which is
/// followed by a pause of the same length for other writes.
struct UpgradePacing: Sendable {
    /// The number of objects in one transaction.
    static let batch = 100
    /// The pause after a failure.
    private static let retryDelay = Duration.seconds(60)
    /// The shortest pause between two transactions.
    private static let shortestPause = Duration.milliseconds(5)

    let log: Logger
    /// Sleeps; throws if the task is cancelled.
    var sleep: @Sendable (Duration) async throws -> Void = { try await Task.sleep(for: $0) }

    /// Does the work, again after each failure, and returns when it is done, or its task is cancelled.
    ///
    /// - Parameter failure: the line in the log for a failure.
    func run(_ failure: String, _ work: () async throws -> Void) async {
        while !Task.isCancelled {
            do {
                return try await work()
            } catch is CancellationError {
                return
            } catch {
                log.write(failure, ["error": "\(error)"], level: .error)
                try? await sleep(Self.retryDelay)
            }
        }
    }

    /// Waits after a transaction that began at a time.
    func pause(since start: ContinuousClock.Instant) async throws {
        try await sleep(max(ContinuousClock.now - start, Self.shortestPause))
    }
}
