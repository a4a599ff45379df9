import Basics
package import Capability
import GatewayAPI
package import RPC
import Synchronization

/// Slows down callers who fill the audit log faster than its lines may be removed.
///
/// Lines are kept for a minimum time regardless of their number, so that nobody can have the traces of their own actions removed.
/// If an organization has twice its maximum of lines, each of its callers is limited in the calls a minute that leave lines.
package final class AuditPressure: Sendable {
    private struct State {
        /// The organizations with more lines than allowed.
        var overfull: [OrganizationReference] = []
        /// The ids of the organizations with twice as many.
        var slowed: Set<Int64> = []
        var refused = 0
    }

    private let state = Lock(State())
    private let calls: Throttle
    private let clock: any WallClock
    private let log: Logger
    private let callsPerMinute: Int
    private let maximumLines: Int64

    /// - Parameter maximumLines: the maximum for one organization, mentioned in the log.
    init(callsPerMinute: Int, maximumLines: Int64, clock: any WallClock, log: Logger) {
        calls = Throttle(perMinute: callsPerMinute)
        self.callsPerMinute = callsPerMinute
        self.maximumLines = maximumLines
        self.clock = clock
        self.log = log
    }

    /// The number of organizations with more lines than `audit.max_lines`, none of which may be removed yet.
    package var overfullCount: Int { state.withLock { $0.overfull.count } }

    /// The number of calls refused since the start.
    package var refusedCount: Int { state.withLock { $0.refused } }

    /// Counts a call that leaves an audit line.
    ///
    /// - Throws: RATE_LIMITED with the time to wait.
    func admit(_ principal: Principal) throws(RPCError) {
        guard let organizationID = principal.organizationID, state.withLock({ $0.slowed.contains(organizationID) }),
            let wait = calls.take(principal.name, at: clock.now())
        else { return }
        state.withLock { $0.refused += 1 }
        throw RPCError(
            .rateLimited, "the organization's audit log is full of recent lines: try again later",
            retryAfterMilliseconds: wait)
    }

    package func admit(_ user: UserPrincipal) throws(RPCError) { try admit(.user(user)) }

    /// - Parameters:
    ///   - overfull: the organizations with too many lines, in the order of their ids.
    ///   - slowed: the ids of those whose callers are limited.
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
                    "each caller of an organization above twice the limit may make \(callsPerMinute) calls a minute that write audit lines",
            ], level: .warning)
    }
}

extension AuditPressure: MetricSource {
    package var families: [MetricFamily] {
        [
            .gauge(
                "data_gateway_audit_overfull_organizations",
                "Organizations that exceed audit.max_lines with audit lines that are too young to be deleted.",
                [([], overfullCount)]),
            .counter(
                "data_gateway_audit_refused_calls_total",
                "Calls that were refused because they would write more audit lines.", [([], refusedCount)]),
        ]
    }
}
