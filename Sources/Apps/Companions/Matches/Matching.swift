import Accounts
import AppProto
import Basics
import Database
import Webhooks

/// The rules for pairs of members. Each change is one write transaction, and there is one writer, so nobody gets two partners.
struct Matching: Sendable {
    /// The result of a request for a partner.
    enum Result: Sendable, Hashable {
        case waiting
        case matched
    }

    /// A member's state as GetMatch tells it.
    enum Report: Sendable, Hashable {
        /// The match is told now, once for each side.
        case matched(partner: String)
        case waiting
        case none
    }

    /// The reason for which a match ends.
    enum End: Sendable, Hashable {
        case completed
        case left
        case accountDeleted
    }

    let database: Database
    let clock: any WallClock
    let plans: PlanCatalog
    /// The time in which two members are not matched again.
    let rematchTime: Duration
    /// Notified at each message.
    let news: Signal
    let events: MatchEvents

    /// Matches a member with the one who has waited longest, or lets the member wait.
    ///
    /// - Parameter traceparent: the trace of the call, for the event.
    /// - Throws: a ``CompanionResult``, e.g. of a member who waits already (-2) or has a partner (-3).
    func request(_ plan: Int32, of userID: Int64, traceparent: String? = nil) async throws -> Result {
        guard let plan = plans.plan(plan) else { throw CompanionResult(-1, "TaskId must be the id of a plan") }
        return try await database.write { [clock, news, events] connection in
            let now = clock.now()
            let (matches, profiles) = (MatchRecords(connection), MemberProfileRecords(connection))
            guard let profile = try profiles.find(userID) else { throw CompanionResult.unknownAddress }
            guard try matches.side(of: userID) == nil else { throw CompanionResult(-3, "You have been matched!") }
            guard try matches.waits(userID) == nil else { throw CompanionResult(-2, "You are queuing!") }
            guard profile.isWilling else { throw CompanionResult(-1, "You have chosen not to be matched") }
            connection.afterCommit { news.notify() }
            let other = try matches.longestWaiting(
                for: plan.id, besides: userID, notMatchedSince: now.subtracting(rematchTime))
            guard let other, let partner = try profiles.find(other) else {
                try matches.enqueue(userID, plan: plan.id, at: now)
                try MessageRecords(connection).insert(Notice.waiting(plan.title), to: userID, at: now)
                return .waiting
            }
            let id = try pair(profile, partner, plan, at: now, in: connection)
            try events.recordMatch(
                id, of: plan, between: [other, userID], traceparent: traceparent, at: now, in: connection)
            return .matched
        }
    }

    private func pair(
        _ profile: MemberProfile, _ partner: MemberProfile, _ plan: CompanionPlan, at now: UnixTime,
        in connection: Connection
    ) throws -> Int64 {
        let matches = MatchRecords(connection)
        try matches.dequeue(partner.userID)
        let id = try matches.insert(
            plan: plan.id, title: plan.title, partner.userID, profile.userID, at: now)
        for (member, other) in [(profile, partner), (partner, profile)] {
            try TaskRecords(connection).replace(of: member.userID, matchID: id, names: plan.tasks)
            try MessageRecords(connection).insert(
                Notice.matched(plan.title, with: other), to: member.userID, at: now)
        }
        try FriendRecords(connection).befriend(profile.userID, partner.userID, at: now)
        return id
    }

    /// Returns a member's state. A match is told to each side once: the app starts its tasks again when it learns of one.
    func report(of userID: Int64) async throws -> Report {
        let found = try await database.read { connection in
            (try MatchRecords(connection).side(of: userID), try MatchRecords(connection).waits(userID))
        }
        // A write would commit although it changes nothing.
        guard let side = found.0, !side.wasReported else { return found.1 == nil ? .none : .waiting }
        let now = clock.now()
        return try await database.write { connection in
            guard let side = try MatchRecords(connection).side(of: userID),
                let partner = try MemberProfileRecords(connection).find(side.partnerID),
                try MatchRecords(connection).markReported(userID, at: now)
            else { return try MatchRecords(connection).waits(userID) == nil ? .none : .waiting }
            return .matched(partner: partner.email)
        }
    }

    /// Lets a member wait no longer.
    func cancel(_ userID: Int64) async throws {
        let waited = try await database.write(mayUseReserve: true) { try MatchRecords($0).dequeue(userID) }
        guard waited else { throw CompanionResult(-1, "No queue info") }
    }

    /// Ends the match of a member.
    func leave(_ userID: Int64) async throws {
        let ended = try await database.write(mayUseReserve: true) { [clock] connection in
            try end(of: userID, for: .left, at: clock.now(), in: connection)
        }
        guard ended else { throw CompanionResult(-1, "You have no companion") }
    }

    /// Ends the match of a member, if there is one, in the transaction of `connection`.
    @discardableResult
    func end(of userID: Int64, for reason: End, at now: UnixTime, in connection: Connection) throws -> Bool {
        guard let side = try MatchRecords(connection).side(of: userID) else { return false }
        try MatchRecords(connection).end(side.matchID, at: now)
        // Tasks that both have finished remain visible until the next match.
        if reason != .completed { try TaskRecords(connection).remove(matchID: side.matchID) }
        let messages = MessageRecords(connection)
        if reason != .accountDeleted {
            try messages.insert(Notice.ended(side.title, for: reason, isOwn: true), to: userID, at: now)
        }
        try messages.insert(Notice.ended(side.title, for: reason, isOwn: false), to: side.partnerID, at: now)
        connection.afterCommit { [news] in news.notify() }
        return true
    }

    /// Blocks somebody for a member: a match of the two ends, and there will not be another one.
    func block(_ blockedID: Int64, by userID: Int64) async throws {
        try await database.write(mayUseReserve: true) { [clock] connection in
            let (now, friends) = (clock.now(), FriendRecords(connection))
            let side = try MatchRecords(connection).side(of: userID)
            guard try friends.areFriends(userID, blockedID) || side?.partnerID == blockedID else {
                throw CompanionResult.unknownAddress
            }
            if side?.partnerID == blockedID { try end(of: userID, for: .left, at: now, in: connection) }
            try friends.block(userID, blockedID, at: now)
        }
    }

    func unblock(_ blockedID: Int64, by userID: Int64) async throws {
        let wasBlocked = try await database.write(mayUseReserve: true) {
            try FriendRecords($0).unblock(userID, blockedID)
        }
        guard wasBlocked else { throw CompanionResult.unknownAddress }
    }

    /// Sets whether a member may be matched; one who may not does not wait any more.
    ///
    /// - Parameters: a value that is `nil` stays as it is.
    func setPreferences(of userID: Int64, isWilling: Bool?, sharesMobile: Bool?) async throws {
        try await database.write { connection in
            guard var profile = try MemberProfileRecords(connection).find(userID) else {
                throw CompanionResult.unknownAddress
            }
            profile.isWilling = isWilling ?? profile.isWilling
            profile.sharesMobile = sharesMobile ?? profile.sharesMobile
            try MemberProfileRecords(connection).update(profile)
            if !profile.isWilling { try MatchRecords(connection).dequeue(userID) }
        }
    }
}

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

/// The texts of messages from the app to its members.
enum Notice {
    static func waiting(_ plan: String) -> String {
        "We are looking for a companion for \"\(plan)\". You will get a message when we have found one."
    }

    static func stoppedWaiting(_ plan: String) -> String {
        "We have not found a companion for \"\(plan)\" in 30 days and have stopped looking. You can start again at any time."
    }

    static func matched(_ plan: String, with partner: MemberProfile) -> String {
        "You have a companion for \"\(plan)\": \(partner.username), \(partner.email). You are friends now. Good luck to both of you!"
    }

    /// - Parameter isOwn: whether the message is for the member who has ended the match.
    static func ended(_ plan: String, for reason: Matching.End, isOwn: Bool) -> String {
        switch (reason, isOwn) {
        case (.completed, _): "You have both finished \"\(plan)\". Congratulations! You can start another plan."
        case (.left, true): "You have left \"\(plan)\". You can start another plan."
        case (.left, false): "Your companion has left \"\(plan)\". You can start another plan."
        case (.accountDeleted, _):
            "The account of your companion was deleted, so \"\(plan)\" has ended. You can start another plan."
        }
    }
}
