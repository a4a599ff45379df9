import Basics
import Dispatch
import Synchronization

/// Runs each job where it is enqueued.
private final class InPlaceExecutor: TaskExecutor {
    func enqueue(_ job: consuming ExecutorJob) { job.runSynchronously(on: asUnownedTaskExecutor()) }
}

/// Runs an asynchronous function and returns its result. Its jobs run where they are enqueued, so one that only reads from SQLite runs
/// on this thread; a server's answer is waited for.
package func inPlace<T: Sendable>(_ body: @escaping @Sendable () async throws -> T) throws -> T {
    let outcome = Lock<Result<T, any Error>?>(nil)
    let ended = DispatchSemaphore(value: 0)
    Task.detached(executorPreference: InPlaceExecutor()) {
        let result: Result<T, any Error>
        do { result = .success(try await body()) } catch { result = .failure(error) }
        outcome.withLock { $0 = result }
        ended.signal()
    }
    try ended.waitForSignal()
    guard let result = outcome.withLock({ $0 }) else { preconditionFailure("the function has ended without a result") }
    return try result.get()
}
