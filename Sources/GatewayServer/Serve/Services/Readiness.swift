import Basics
import RPC
import Synchronization

/// The readiness for probes. It is the last service to start and the first to stop.
final class Readiness: Service {
    let name = "readiness"
    private let state: ServingState
    private let isStarted = Lock(false)

    init(_ state: ServingState) {
        self.state = state
    }

    /// Whether everything has started and calls are accepted.
    var isReady: Bool { isStarted.withLock { $0 } && state.isServing }

    /// A line with the reason why the gateway is not ready.
    var reason: String { isStarted.withLock { $0 } ? "draining\n" : "starting\n" }

    func start(_ ended: @escaping @Sendable (any Error) -> Void) {
        isStarted.withLock { $0 = true }
    }

    func stop() {
        state.end()
    }
}
