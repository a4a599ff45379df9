import Dispatch
import Synchronization

/// Asynchronous work for threads that block until it ends, such as those of the HTTP server.
///
/// The work has a thread of its own, so that it continues however many threads of the pool for tasks are blocked. All work shares it:
/// none may block.
package enum BlockingCall {
    private static let executor = WorkerExecutor(.serial("blocking.calls"))

    /// Starts work, whose result can be awaited with ``result(of:)``.
    package static func start<T: Sendable>(_ work: @escaping @Sendable () async throws -> T) -> Task<T, any Error> {
        Task.detached(executorPreference: executor, operation: work)
    }

    /// Blocks this thread until a task ends, and returns its result.
    package static func result<T: Sendable>(of task: Task<T, any Error>) throws -> T {
        let ended = DispatchSemaphore(value: 0)
        let result = Lock<Result<T, any Error>?>(nil)
        whenEnded(task) { value in
            result.withLock { $0 = value }
            ended.signal()
        }
        while true {
            ended.wait()
            if let result = result.withLock({ $0 }) { return try result.get() }
        }
    }

    /// Calls `body` with the result of a task when it ends, on the thread for this work.
    package static func whenEnded<T: Sendable>(
        _ task: Task<T, any Error>, _ body: @escaping @Sendable (Result<T, any Error>) -> Void
    ) {
        Task.detached(executorPreference: executor) { body(await task.result) }
    }

    /// Runs work, and blocks this thread until it ends.
    package static func run<T: Sendable>(_ work: @escaping @Sendable () async throws -> T) throws -> T {
        try result(of: start(work))
    }
}

/// Runs tasks on a worker.
private final class WorkerExecutor: TaskExecutor {
    private let worker: Worker

    init(_ worker: Worker) {
        self.worker = worker
    }

    func enqueue(_ job: consuming ExecutorJob) {
        let job = UnownedJob(job)
        worker.post { [self] in job.runSynchronously(on: asUnownedTaskExecutor()) }
    }
}
