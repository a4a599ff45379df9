import Basics
import Dispatch
import Synchronization

/// Calls a function periodically, on its own queue, until it is stopped.
final class Watch: Sendable {
    /// Sendable: Dispatch's sources may be used by any thread.
    private struct Source: @unchecked Sendable {  // Dispatch locks inside
        let timer: any DispatchSourceTimer
    }

    private let queue = DispatchQueue(label: "http.watch")
    private let timer = Lock<Source?>(nil)

    func start(every interval: Duration, _ body: @escaping @Sendable () -> Void) {
        let source = DispatchSource.makeTimerSource(queue: queue)
        source.schedule(deadline: .now(), repeating: interval / .seconds(1))
        source.setEventHandler(handler: body)
        source.activate()
        timer.withLock { $0 = Source(timer: source) }
    }

    /// Stops the calls, and returns when none is in progress any more.
    func stop() {
        timer.withLock { $0.take() }?.timer.cancel()
        queue.sync {}
    }
}
