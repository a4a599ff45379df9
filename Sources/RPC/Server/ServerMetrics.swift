import Basics
package import Crypto
package import HTTPTypes
import Synchronization

/// The counters of a listener, without those of its calls, which ``Router/methods`` has; read at any time, by any thread.
package final class ServerMetrics: Sendable {
    private let connections: ConnectionMetrics
    /// Running handlers, without those of waiting methods.
    let handlers = BoundedCount()
    /// Calls of waiting methods.
    let waitingCalls = BoundedCount()
    /// Bytes of responses that wait to be sent.
    let responseBytes = BoundedCount()
    private let requestBytes = Atomic<Int>(0)
    private let refused = Lock<[RefusedRequest.Reason: Int]>([:])

    /// - Parameter connections: the counters of a listener that does not only serve calls.
    package init(connections: ConnectionMetrics = ConnectionMetrics()) {
        self.connections = connections
    }

    /// A copy of all counters.
    package struct Snapshot: Sendable {
        package var connectionsAccepted: Int
        package var connectionsOpen: Int
        /// Running handlers.
        package var handlers: Int
        /// Calls of waiting methods.
        package var waitingCalls: Int
        /// Bytes of responses that wait to be sent.
        package var responseBytes: Int
        /// Requests that are not calls, by reason.
        package var refused: [RefusedRequest.Reason: Int]
        /// The number of times that a limit was reached, by its name.
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

    /// Counts a reached limit, because of which a client was refused or disconnected.
    package func limitReached(_ name: String) { connections.limitReached(name) }

    /// Whether calls hold bytes of requests.
    var holdsRequests: Bool { requestBytes.load(ordering: .relaxed) > 0 }

    /// - Returns: whether calls hold at most `limit` bytes now.
    func requestBytesChanged(by change: Int, limit: Int) -> Bool {
        requestBytes.add(change, ordering: .relaxed).newValue <= limit
    }
}

/// A request that is not a call of a registered method, for the log.
package struct RefusedRequest: Sendable, Hashable {
    package enum Reason: String, Sendable, Hashable, CaseIterable {
        case unknownMethod = "unknown_method"
        case httpMethod = "http_method"
        case contentType = "content_type"
        case headerSize = "header_size"
    }

    package let reason: Reason
    /// The path without its query, at most 200 characters.
    package let path: String
    package let peer: PeerAddress
    /// The client's id of the request, if well-formed.
    package let requestID: RequestID?
}
