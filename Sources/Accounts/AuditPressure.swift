import Basics
import GatewayAPI
import RPC

/// Slows callers down who fill the audit log faster than its lines may go.
///
/// Lines are kept for a while however many there are, so that nobody can have the traces of what they did removed. What is left to
/// do about an organization that has twice as many as it may have is to let each of its callers make only some calls a minute that
/// leave lines.
package final class AuditPressure: Sendable {
    private struct State {
        /// Organizations with more lines than they may have.
        var overfull: [OrganizationReference] = []
        /// Ids of the organizations with twice as many.
        var slowed: Set<Int64> = []
        var refused = 0
    }

    private let state = Lock(State())
    private let calls: Throttle
    private let clock: any WallClock
    private let log: Logger
    private let callsPerMinute: Int
    private let maximumLines: Int64

    /// - Parameter maximumLines: of one organization; only for the log.
    init(callsPerMinute: Int, maximumLines: Int64, clock: any WallClock, log: Logger) {
        calls = Throttle(perMinute: callsPerMinute)
        self.callsPerMinute = callsPerMinute
        self.maximumLines = maximumLines
        self.clock = clock
        self.log = log
    }

    /// Organizations with more lines than `audit.max_lines`, none of which may go yet.
    package var overfullCount: Int { state.withLock { $0.overfull.count } }

    /// Calls refused since the start.
    package var refusedCount: Int { state.withLock { $0.refused } }

    /// Counts a call that leaves a line.
    ///
    /// - Throws: RATE_LIMITED, with the time after which to try again.
    func admit(_ principal: Principal) throws(RPCError) {
        guard let organizationID = principal.organizationID, state.withLock({ $0.slowed.contains(organizationID) }),
            let wait = calls.take(principal.name, at: clock.now())
        else { return }
        state.withLock { $0.refused += 1 }
        throw RPCError(
            .rateLimited, "the organization's audit log is full of recent lines: try again later",
            retryAfterMilliseconds: wait)
    }

    func admit(_ user: UserPrincipal) throws(RPCError) { try admit(.user(user)) }

    /// - Parameters:
    ///   - overfull: in the order of their ids.
    ///   - slowed: among them.
    func set(overfull: [OrganizationReference], slowed: Set<Int64>) {
        let hasChanged = state.withLock { state in
            defer { (state.overfull, state.slowed) = (overfull, slowed) }
            return state.overfull != overfull
        }
        if hasChanged { report(overfull) }
    }

    private func report(_ overfull: [OrganizationReference]) {
        guard !overfull.isEmpty else {
            return log.write("no organization exceeds audit.max_lines any more")
        }
        log.write(
            "organizations exceed audit.max_lines with audit lines that are too young to be deleted",
            [
                "organizations": overfull.map { $0.name.isEmpty ? "#\($0.id)" : $0.name }.joined(separator: " "),
                "max_lines": "\(maximumLines)",
                "consequence":
                    "above twice the limit, each of their callers may make \(callsPerMinute) calls a minute that write audit lines",
            ], level: .warning)
    }
}
