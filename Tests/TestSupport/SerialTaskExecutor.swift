import Dispatch

/// Runs its tasks one at a time, in the order in which they became ready: what was started before has run up to its first
/// wait when the next begins.
package final class SerialTaskExecutor: TaskExecutor {
    private let queue = DispatchQueue(label: "serial task executor")

    package init() {}

    package func enqueue(_ job: consuming ExecutorJob) {
        let job = UnownedJob(job)
        queue.async { job.runSynchronously(on: self.asUnownedTaskExecutor()) }
    }
}
