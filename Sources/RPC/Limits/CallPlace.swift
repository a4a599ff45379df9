/// A call's usage of its listener's limits from the start of its handler to its end.
///
/// A call of a waiting method does not count as a handler: waiting calls cost little, and would otherwise displace the others. They
/// have small limits of their own.
struct CallPlace {
    /// A reached limit.
    struct Refusal: Error {
        /// The limit's name for metrics.
        let limit: String
        /// The error message for the client.
        let message: String
    }

    /// The refusal of a call from an address that has too many.
    static let handlersOfAddress = Refusal(
        limit: "handlers_per_address", message: "the caller's address has too many calls in progress")

    private let waits: Bool

    /// Counts one more call.
    ///
    /// - Parameter waits: whether its method is a waiting one.
    init(waits: Bool, at origin: CallOrigin, of address: AddressShare) throws(Refusal) {
        self.waits = waits
        if waits {
            try Self.takeWaiting(origin.server.limits.waiting, origin, address)
        } else {
            try Self.takeRunning(origin.server, address)
        }
    }

    /// Uncounts the call, on the loop of `origin`; both arguments are those of `init`.
    func leave(_ origin: CallOrigin, _ address: AddressShare) {
        let metrics = origin.server.metrics
        if waits {
            origin.countWaitingCall(of: address, by: -1)
            address.waitingCalls.giveBack()
            metrics.waitingCalls.giveBack()
        } else {
            address.handlers.giveBack()
            metrics.handlers.giveBack()
        }
    }

    private static func takeWaiting(
        _ limits: WaitingLimits, _ origin: CallOrigin, _ address: AddressShare
    ) throws(Refusal) {
        func refusal(_ limit: String, _ holder: String, _ count: Int) -> Refusal {
            Refusal(limit: limit, message: "\(holder) already has \(count) waiting calls, which is the maximum")
        }
        guard !origin.isOwn(address) || origin.waitingCalls < limits.perConnection else {
            throw refusal("waiting_calls_per_connection", "this connection", limits.perConnection)
        }
        guard address.waitingCalls.take(limit: limits.perAddress) else {
            throw refusal("waiting_calls_per_address", "the caller's address", limits.perAddress)
        }
        guard origin.server.metrics.waitingCalls.take(limit: limits.perListener) else {
            address.waitingCalls.giveBack()
            throw refusal("waiting_calls", "this listener", limits.perListener)
        }
        origin.countWaitingCall(of: address, by: 1)
    }

    private static func takeRunning(_ server: RPCServer, _ address: AddressShare) throws(Refusal) {
        guard address.handlers.take(limit: server.limits.maxHandlersPerAddress) else {
            throw handlersOfAddress
        }
        guard server.metrics.handlers.take(limit: server.limits.maxHandlers) else {
            address.handlers.giveBack()
            throw Refusal(limit: "handlers", message: "the gateway has too many calls in progress")
        }
    }
}
