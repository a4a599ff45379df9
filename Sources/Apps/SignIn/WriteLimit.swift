import Basics
import GRPCWire
import GatewayAPI
import RPC

/// The limit of changes that one user makes.
struct WriteLimit: Sendable {
    private static let perMinute = 120

    private let throttle = Throttle(perMinute: Self.perMinute)
    private let clock: any WallClock

    init(clock: any WallClock) {
        self.clock = clock
    }

    /// - Throws: RESOURCE_EXHAUSTED beyond the limit.
    func count(_ userID: Int64) throws(RPCError) {
        guard let wait = throttle.take("\(userID)", at: clock.now()) else { return }
        throw RPCError(
            bare: .resourceExhausted, "a user can make \(Self.perMinute) changes a minute: try again later",
            retryAfterMilliseconds: wait)
    }
}
