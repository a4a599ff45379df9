import Basics
import RPC

/// The last service to start and the first to stop: between the two, readiness probes are told to send calls.
final class Readiness: Service {
    let name = "readiness"
    private let state: ServingState
    private let isStarted = Lock(false)

    init(_ state: ServingState) {
        self.state = state
    }

    /// Whether everything has started and calls are taken.
    var isReady: Bool { isStarted.withLock { $0 } && state.isServing }

    /// A line that says why calls should not be sent.
    var reason: String { isStarted.withLock { $0 } ? "draining\n" : "starting\n" }

    func start(_ ended: @escaping @Sendable (any Error) -> Void) {
        isStarted.withLock { $0 = true }
    }

    func stop() {
        state.end()
    }
}
