import Accounts
import AppProto
import Basics
import Database
import Webhooks

/// The events of matches for webhooks. They have ids only, so that no webhook gets what members write about themselves.
struct MatchEvents: Sendable {
    /// A match was made.
    static let matched = EventType("companions.matched")

    private struct Match: Encodable {
        let matchId: Int64
        let plan: Int32
        let title: String
        /// The ids of the users, first that of the member who had waited.
        let userIds: [Int64]
        let madeAt: String
    }

    let outbox: Outbox
    let organization: OrganizationReference

    /// Records that a match was made, in the transaction that makes it.
    func recordMatch(
        _ id: Int64, of plan: CompanionPlan, between users: [Int64], traceparent: String?, at now: UnixTime,
        in connection: Connection
    ) throws {
        let match = Match(
            matchId: id, plan: plan.id, title: plan.title, userIds: users, madeAt: RFC3339.text(now))
        let event = Event(
            Self.matched, subject: "matches/\(id)", organizationID: organization.id, data: match,
            traceparent: traceparent)
        try outbox.record(event, organization: organization, at: now, in: connection)
    }
}
