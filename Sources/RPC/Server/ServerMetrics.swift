import Synchronization
import Wire

/// What a listener counts; read at any time, by any thread.
public final class ServerMetrics: Sendable {
    private let connectionsAccepted = Atomic<Int>(0)
    private let connectionsOpen = Atomic<Int>(0)
    private let handlers = Atomic<Int>(0)
    private let requestBytes = Atomic<Int>(0)
    private let state = Mutex(State())

    private struct State {
        var calls = [Int](repeating: 0, count: StatusCode.allCases.count)
        var limits: [String: Int] = [:]
    }

    public init() {}

    /// A copy of all counts.
    public struct Snapshot: Sendable {
        public var connectionsAccepted: Int
        public var connectionsOpen: Int
        /// Handlers that run or wait now.
        public var handlers: Int
        /// Calls that ended, by their status.
        public var calls: [StatusCode: Int]
        /// How often a limit was reached, by its name.
        public var limits: [String: Int]
    }

    public var snapshot: Snapshot {
        let (calls, limits) = state.withLock { ($0.calls, $0.limits) }
        return Snapshot(
            connectionsAccepted: connectionsAccepted.load(ordering: .relaxed),
            connectionsOpen: connectionsOpen.load(ordering: .relaxed),
            handlers: handlers.load(ordering: .relaxed),
            calls: Dictionary(uniqueKeysWithValues: StatusCode.allCases.map { ($0, calls[$0.rawValue]) }),
            limits: limits)
    }

    public func connectionOpened() {
        connectionsAccepted.add(1, ordering: .relaxed)
        connectionsOpen.add(1, ordering: .relaxed)
    }

    public func connectionClosed() { connectionsOpen.subtract(1, ordering: .relaxed) }

    func callEnded(_ status: StatusCode) { state.withLock { $0.calls[status.rawValue] += 1 } }

    /// A limit was reached, and somebody refused or cut off because of it.
    public func limitReached(_ name: String) { state.withLock { $0.limits[name, default: 0] += 1 } }

    /// - Returns: whether there was room for one more handler below `limit`.
    func handlerStarts(limit: Int) -> Bool {
        if handlers.add(1, ordering: .relaxed).newValue <= limit { return true }
        handlers.subtract(1, ordering: .relaxed)
        return false
    }

    /// - Returns: whether calls hold no more than `limit` now.
    func requestBytesChanged(by change: Int, limit: Int) -> Bool {
        requestBytes.add(change, ordering: .relaxed).newValue <= limit
    }

    func handlerEnded() { handlers.subtract(1, ordering: .relaxed) }
}
