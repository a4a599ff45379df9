import Dispatch

/// Runs work that may block, for a disk, a name server or a peer, so that it occupies neither an event loop nor a thread of the pool
/// for tasks.
///
/// A caller that awaits a result continues where it ran before: a handler on its event loop. Work that was posted runs even if the
/// caller's task is cancelled meanwhile; work that takes long checks for that itself.
package struct Worker: Sendable {
    private enum Place: Sendable {
        case queue(DispatchQueue)
        case threads(name: String, stackSize: Int?)
    }

    private let place: Place

    /// Runs one piece of work at a time, in the order in which they were posted.
    ///
    /// - Parameter name: the name in the table of threads in `docs/architecture.md`; also for the other kinds.
    package static func serial(_ name: String) -> Worker {
        Worker(place: .queue(DispatchQueue(label: name)))
    }

    /// Runs pieces of work at the same time, on the threads that Dispatch has for the whole process; further work waits for one of
    /// them. So it is for work that ends soon: what waits for a client or a peer would keep the threads from all others.
    package static func pool(_ name: String) -> Worker {
        Worker(place: .queue(DispatchQueue(label: name, attributes: .concurrent)))
    }

    /// Runs each piece of work on a new thread, for work that takes as long as a client, a peer or the process: it would occupy a
    /// thread of ``pool(_:)``, and hold up what was posted to ``serial(_:)`` after it. The caller limits the number of threads.
    ///
    /// If the system has no further thread, the work waits for one of Dispatch's pool.
    ///
    /// - Parameter stackSize: in bytes; `nil` = the system's.
    package static func thread(_ name: String, stackSize: Int? = nil) -> Worker {
        Worker(place: .threads(name: name, stackSize: stackSize))
    }

    /// Reads and writes files.
    package static let disk = Worker.pool("disk")
    /// Takes the work for which the system has no thread. Callers wait for it, and the end of the process would end the requests of
    /// everybody else.
    private static let reserve = Worker.pool("threads")

    /// Runs `work`, and returns its result.
    package nonisolated(nonsending) func run<T: Sendable, E: Error>(
        _ work: @escaping @Sendable () throws(E) -> T
    ) async throws(E) -> T {
        let result: Result<T, E> = await withCheckedContinuation { continuation in
            post { continuation.resume(returning: Result(catching: work)) }
        }
        return try result.get()
    }

    /// Runs `work` later, and returns at once.
    ///
    /// - Parameter work: a block, so that Dispatch needs no other closure around it.
    package func post(_ work: @escaping @Sendable @convention(block) () -> Void) {
        switch place {
        case .queue(let queue):
            queue.async(execute: work)
        case .threads(let name, let stackSize):
            if !NewThread.start(name, stackSize: stackSize, work) { Self.reserve.post(work) }
        }
    }

    /// Blocks the caller until all work that was posted before has ended. Not for threads, of which nothing is kept.
    package func drain() {
        guard case .queue(let queue) = place else { preconditionFailure("a thread of a worker cannot be awaited") }
        queue.sync(flags: .barrier) {}
    }
}
