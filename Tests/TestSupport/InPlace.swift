import Basics
import Synchronization

/// Runs each job where it is enqueued.
private final class InPlaceExecutor: TaskExecutor {
    func enqueue(_ job: consuming ExecutorJob) { job.runSynchronously(on: asUnownedTaskExecutor()) }
}

/// Runs an asynchronous function that does not suspend, such as one that only reads from SQLite, and returns its result. Traps if it
/// suspends.
package func inPlace<T: Sendable>(_ body: @escaping @Sendable () async throws -> T) throws -> T {
    let outcome = Lock<Result<T, any Error>?>(nil)
    Task.detached(executorPreference: InPlaceExecutor()) {
        let result: Result<T, any Error>
        do { result = .success(try await body()) } catch { result = .failure(error) }
        outcome.withLock { $0 = result }
    }
    guard let result = outcome.withLock({ $0 }) else { preconditionFailure("the function suspended") }
    return try result.get()
}
