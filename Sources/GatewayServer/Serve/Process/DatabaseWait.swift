import Basics
import Database
import Observability

/// The wait of a gateway that starts while no host of its database accepts writes: the server is starting, or a standby is going to be
/// promoted.
struct DatabaseWait: Sendable {
    /// The hosts, for people.
    let place: String
    /// The longest wait; 0 = none.
    let limit: Duration
    let log: Logger
    /// The time between two attempts.
    var pause = Duration.seconds(1)

    /// Runs `open` until it does not fail with ``DatabaseError/unavailable(_:)`` any more, or until the limit.
    ///
    /// - Throws: the error of the last attempt, or `CancellationError` if the task was cancelled.
    func run<T: Sendable>(_ open: @Sendable () throws -> T) async throws -> T {
        let begin = ContinuousClock.now
        var latest: DatabaseError?
        while true {
            do {
                let opened = try open()
                if latest != nil { log.write("the database is available", ["place": place]) }
                return opened
            } catch let error as DatabaseError {
                guard case .unavailable = error, begin + limit > .now + pause else { throw error }
                // Each reason once: a server that starts gives several.
                if error != latest { logWait(for: error, since: begin) }
                latest = error
            }
            try await Task.sleep(for: pause)
        }
    }

    private func logWait(for error: DatabaseError, since begin: ContinuousClock.Instant) {
        let left = max(0, (limit - (.now - begin)).wholeSeconds)
        log.write(
            "the gateway waits for its database",
            ["place": place, "error": "\(error)", "ends_in": "\(left) s", "setting": "database.start_timeout"],
            level: .warning)
    }
}
