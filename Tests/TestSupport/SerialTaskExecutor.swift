import Dispatch

/// Runs its tasks one at a time, in the order in which they became ready: a task begins after earlier ones have reached their first
/// wait.
package final class SerialTaskExecutor: TaskExecutor {
    private let queue = DispatchQueue(label: "serial task executor")

    package init() {}

    package func enqueue(_ job: consuming ExecutorJob) {
        let job = UnownedJob(job)
        queue.async { job.runSynchronously(on: self.asUnownedTaskExecutor()) }
    }
}
