import Basics
import Sockets
import Synchronization

/// What a listener counts, but for its calls, which ``Router/methods`` count; read at any time, by any thread.
package final class ServerMetrics: Sendable {
    private let connections: ConnectionMetrics
    /// Handlers that run, without those that wait.
    let handlers = BoundedCount()
    /// Calls of methods that wait.
    let waitingCalls = BoundedCount()
    /// Bytes of answers that wait to be sent.
    let responseBytes = BoundedCount()
    private let requestBytes = Atomic<Int>(0)
    private let refused = Lock<[RefusedRequest.Reason: Int]>([:])

    /// - Parameter connections: those of a listener that serves more than calls, or no calls.
    package init(connections: ConnectionMetrics = ConnectionMetrics()) {
        self.connections = connections
    }

    /// A copy of all counts.
    package struct Snapshot: Sendable {
        package var connectionsAccepted: Int
        package var connectionsOpen: Int
        /// Handlers that run now.
        package var handlers: Int
        /// Calls of methods that wait.
        package var waitingCalls: Int
        /// Bytes of answers that wait to be sent.
        package var responseBytes: Int
        /// Requests that were no call.
        package var refused: [RefusedRequest.Reason: Int]
        /// How often a limit was reached, by its name.
        package var limits: [String: Int]
    }

    package var snapshot: Snapshot {
        Snapshot(
            connectionsAccepted: connections.accepted,
            connectionsOpen: connections.open,
            handlers: handlers.value,
            waitingCalls: waitingCalls.value,
            responseBytes: responseBytes.value,
            refused: refused.withLock { $0 },
            limits: connections.limits)
    }

    package func connectionOpened() { connections.connectionOpened() }

    package func connectionClosed() { connections.connectionClosed() }

    func requestRefused(_ reason: RefusedRequest.Reason) { refused.withLock { $0[reason, default: 0] += 1 } }

    /// A limit was reached, and somebody refused or cut off because of it.
    package func limitReached(_ name: String) { connections.limitReached(name) }

    /// Whether calls hold bytes of requests.
    var holdsRequests: Bool { requestBytes.load(ordering: .relaxed) > 0 }

    /// - Returns: whether calls hold no more than `limit` now.
    func requestBytesChanged(by change: Int, limit: Int) -> Bool {
        requestBytes.add(change, ordering: .relaxed).newValue <= limit
    }
}
