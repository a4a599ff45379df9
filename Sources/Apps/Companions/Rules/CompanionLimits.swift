import Basics
import GRPCWire
import GatewayAPI
import HTTPTypes
import RPC

/// The limits of calls of an address or a member. A refusal has the code -1, which the published app takes for a failure.
struct CompanionLimits: Sendable {
    let clock: any WallClock
    private let registrations = Throttle(perMinute: CompanionsConfiguration.registrations)
    private let changes = Throttle(perMinute: CompanionsConfiguration.changes)
    private let reads = Throttle(perMinute: CompanionsConfiguration.reads)
    private let pictures = Throttle(perMinute: CompanionsConfiguration.pictures)
    private let signIns = Throttle(perMinute: CompanionsConfiguration.signIns)
    private let feedback = Throttle(perHour: CompanionsConfiguration.feedback)

    init(clock: any WallClock) {
        self.clock = clock
    }

    func countRegistration(_ context: CallContext) throws(RPCError) {
        try take(
            registrations, AddressRange.countedAsOne(context.peer.host), "too many accounts were made: try again later")
    }

    /// Counts a sign-in that succeeded. Each writes a line of the audit log.
    func countSignIn(_ userID: Int64) throws(RPCError) {
        try take(signIns, "\(userID)", "too many sign-ins were made: try again later")
    }

    func countChange(_ userID: Int64) throws(RPCError) {
        try take(changes, "\(userID)", "too many changes were made: try again later")
    }

    func countRead(_ userID: Int64) throws(RPCError) {
        try take(reads, "\(userID)", "too many calls were made: try again later")
    }

    func countPicture(_ userID: Int64) throws(RPCError) {
        try take(pictures, "\(userID)", "too many pictures were sent: try again later")
    }

    func countFeedback(_ userID: Int64) throws(RPCError) {
        try take(feedback, "\(userID)", "too many messages were sent: try again later")
    }

    private func take(_ throttle: Throttle, _ key: String, _ message: String) throws(RPCError) {
        guard let wait = throttle.take(key, at: clock.now()) else { return }
        throw RPCError(bare: .resourceExhausted, message, retryAfterMilliseconds: wait)
    }
}
