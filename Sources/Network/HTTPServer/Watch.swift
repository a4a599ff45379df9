import Basics
import Dispatch

/// Calls something again and again, on a queue of its own, until it is stopped.
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

    /// Returns when no call is under way any more.
    func stop() {
        timer.withLock { $0.take() }?.timer.cancel()
        queue.sync {}
    }
}
