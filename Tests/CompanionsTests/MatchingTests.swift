import Accounts
import AppProto
import Basics
import Capability
import Database
import GatewayTesting
import HTTPTypes
import Identity
import Members
import RPC
import TestSupport
import Testing

@testable import Companions

/// The rules for pairs of members.
@Suite(.timeLimited) struct MatchingTests {
    private let world: TestAccounts
    private let app: RunningCompanions

    init() async throws {
        world = try await TestAccounts(migrations: Identity.migrations + CompanionsApp.migrations)
        app = try await RunningCompanions(world)
    }

    private var matching: Matching { app.service.matching }

    /// Makes a member without a password, and returns the id.
    private func member(_ name: String) async throws -> Int64 {
        let (organization, now) = (app.service.callers.organization, world.clock.now())
        return try await world.database.write { connection in
            let user = try Identity.member(
                issuer: CompanionCallers.issuer, subject: "\(name)@example.com", email: nil,
                organizationID: organization.reference.id, at: now, in: connection
            ).user
            try MemberProfileRecords(connection).insert(
                MemberProfile(userID: user.id, email: "\(name)@example.com", username: "\(name) of old", createdAt: now)
            )
            return user.id
        }
    }

    private func user(_ id: Int64) async throws -> UserRecord {
        try #require(try await world.database.read { try UserRecords($0).find(id: id) })
    }

    private func code(_ body: () async throws -> Matching.Result) async throws -> Int32 {
        do {
            _ = try await body()
            return 0
        } catch let refusal as CompanionResult {
            return refusal.code
        }
    }

    @Test func longestWaitingMemberIsMatchedFirst() async throws {
        let (first, second, third) = (try await member("ada"), try await member("bob"), try await member("eve"))
        #expect(try await matching.request(1, of: first) == .waiting)
        world.clock.advance(seconds: 1)
        #expect(try await matching.request(2, of: second) == .waiting)
        world.clock.advance(seconds: 1)
        #expect(try await matching.request(1, of: third) == .matched)
        #expect(try await matching.report(of: third) == .matched(partner: "ada@example.com"))
        #expect(try await matching.report(of: second) == .waiting)
        #expect(try await code { try await matching.request(1, of: first) } == -3)
        #expect(try await code { try await matching.request(1, of: second) } == -2)
        #expect(try await code { try await matching.request(9, of: second) } == -1)
    }

    @Test func eachSideIsToldOnce() async throws {
        let (first, second) = (try await member("ada"), try await member("bob"))
        #expect(try await matching.report(of: first) == .none)
        _ = try await matching.request(1, of: first)
        _ = try await matching.request(1, of: second)
        for (side, partner) in [(first, "bob@example.com"), (second, "ada@example.com")] {
            #expect(try await matching.report(of: side) == .matched(partner: partner))
            #expect(try await matching.report(of: side) == .none)
        }
    }

    @Test func samePairIsMatchedAgainAfterTheTime() async throws {
        let (first, second) = (try await member("ada"), try await member("bob"))
        _ = try await matching.request(1, of: first)
        #expect(try await matching.request(1, of: second) == .matched)
        try await matching.leave(first)
        #expect(try await matching.request(1, of: first) == .waiting)
        #expect(try await matching.request(1, of: second) == .waiting)
        try await matching.cancel(second)
        world.clock.advance(seconds: 30 * 86_400)
        #expect(try await matching.request(1, of: second) == .matched)
    }

    @Test func blockedMemberIsNeverMatched() async throws {
        let (first, second) = (try await member("ada"), try await member("bob"))
        _ = try await matching.request(1, of: first)
        _ = try await matching.request(1, of: second)
        try await matching.block(second, by: first)
        #expect(try await matching.report(of: second) == .none)
        world.clock.advance(seconds: 100 * 86_400)
        #expect(try await matching.request(1, of: first) == .waiting)
        #expect(try await matching.request(1, of: second) == .waiting)
        // Neither the other way round.
        try await matching.cancel(first)
        #expect(try await matching.request(1, of: first) == .waiting)
        try await matching.cancel(second)
        try await matching.unblock(second, by: first)
        #expect(try await matching.request(1, of: second) == .matched)
    }

    @Test func longestWaitDecidesBetweenTwo() async throws {
        let (first, second, third) = (try await member("ada"), try await member("bob"), try await member("eve"))
        // Two wait for the same plan only if they cannot be matched.
        _ = try await matching.request(1, of: first)
        _ = try await matching.request(1, of: second)
        try await matching.leave(first)
        #expect(try await matching.request(1, of: second) == .waiting)
        world.clock.advance(seconds: 1)
        #expect(try await matching.request(1, of: first) == .waiting)
        #expect(try await matching.request(1, of: third) == .matched)
        #expect(try await matching.report(of: third) == .matched(partner: "bob@example.com"))
        #expect(try await matching.report(of: first) == .waiting)
    }

    @Test func strangersCannotBeBlocked() async throws {
        let (first, second) = (try await member("ada"), try await member("bob"))
        await #expect(throws: CompanionResult.unknownAddress) { try await matching.block(second, by: first) }
        await #expect(throws: CompanionResult.unknownAddress) { try await matching.unblock(second, by: first) }
    }

    @Test func unwillingMemberLeavesTheQueue() async throws {
        let (first, second) = (try await member("ada"), try await member("bob"))
        _ = try await matching.request(1, of: first)
        try await matching.setPreferences(of: first, isWilling: false, sharesMobile: nil)
        #expect(try await matching.request(1, of: second) == .waiting)
        #expect(try await code { try await matching.request(1, of: first) } == -1)
    }

    @Test func unwillingMemberInTheQueueIsPassedOver() async throws {
        let (first, second, third) = (try await member("ada"), try await member("bob"), try await member("eve"))
        _ = try await matching.request(1, of: first)
        // No call leaves an unwilling member in the queue.
        try await world.database.write { connection in
            guard var profile = try MemberProfileRecords(connection).find(first) else { return }
            profile.isWilling = false
            try MemberProfileRecords(connection).update(profile)
        }
        #expect(try await matching.request(1, of: second) == .waiting)
        #expect(try await matching.request(1, of: third) == .matched)
        #expect(try await matching.report(of: third) == .matched(partner: "bob@example.com"))
    }

    @Test func deletionByAnOperatorFreesThePartner() async throws {
        let (first, second) = (try await member("ada"), try await member("bob"))
        _ = try await matching.request(1, of: first)
        _ = try await matching.request(1, of: second)
        let (removed, count) = (try await user(first), app.service.matching.news.count)
        try await world.database.write { [world] in
            try world.accounts.userRemoval.remove(removed, at: world.clock.now(), in: $0)
        }
        #expect(app.service.matching.news.count > count)
        let notices = try await world.database.read { try MessageRecords($0).inbox(of: second).rows.map(\.body) }
        #expect(notices.last?.contains("account of your companion was deleted") == true, "\(notices)")
        #expect(try await matching.report(of: second) == .none)
        #expect(try await matching.request(1, of: second) == .waiting)
        let rows = try await world.database.read { connection in
            try ["companions_tasks", "companions_matches", "companions_friends", "companions_partners"].map { table in
                try connection.first("SELECT count(*) AS count FROM \(table)") { $0.int("count") } ?? -1
            }
        }
        #expect(rows == [0, 0, 0, 0])
    }

    @Test func onlyMessagesWakeThoseWhoWatch() async throws {
        let (first, news) = (try await member("ada"), matching.news)
        var count = news.count
        func isWoken(_ body: () async throws -> Void) async throws -> Bool {
            try await body()
            defer { count = news.count }
            return news.count > count
        }
        func change(_ change: @escaping (inout Companion) -> Void) async throws -> Bool {
            var posted = try await app.service.documents.own(first, credential: "")
            change(&posted)
            return try await isWoken { [posted] in try await app.service.documents.change(first, to: posted) }
        }
        #expect(try await isWoken { _ = try await matching.request(1, of: first) })
        #expect(try await !isWoken { _ = try await code { try await matching.request(1, of: first) } })
        #expect(try await !change { $0.bio = "Hello" })
        #expect(try await change { $0.messages.append(CompanionMessage(msg: "Thanks", isUser: true)) })
        #expect(try await !change { $0.messages = [] })
    }

    @Test func waitEndsAfterThirtyDays() async throws {
        let first = try await member("ada")
        _ = try await matching.request(1, of: first)
        let sweep = try #require(app.sweeps.first { $0.kind == "companions_queue" })
        world.clock.advance(seconds: 30 * 86_400 - 1)
        #expect(try await sweep.run(world.clockGuard.permit()) == 0)
        world.clock.advance(seconds: 1)
        #expect(try await sweep.run(world.clockGuard.permit()) == 1)
        #expect(try await matching.report(of: first) == .none)
        let notices = try await world.database.read { try MessageRecords($0).inbox(of: first).rows.map(\.body) }
        #expect(notices.count == 2 && notices[1].contains("stopped looking"))
    }

    @Test func endedMatchIsRemovedAfterAYear() async throws {
        let (first, second) = (try await member("ada"), try await member("bob"))
        _ = try await matching.request(1, of: first)
        _ = try await matching.request(1, of: second)
        let sweep = try #require(app.sweeps.first { $0.kind == "companions_matches" })
        world.clock.advance(seconds: 365 * 86_400)
        #expect(try await sweep.run(world.clockGuard.permit()) == 0)
        try await matching.leave(first)
        world.clock.advance(seconds: 365 * 86_400)
        #expect(try await sweep.run(world.clockGuard.permit()) == 1)
    }

    @Test func manyRequestsAtOnceMakePairs() async throws {
        var members: [Int64] = []
        for number in 0..<20 { members.append(try await member("member\(number)")) }
        try await withThrowingTaskGroup(of: Void.self) { group in
            for id in members { group.addTask { [matching] in _ = try await matching.request(1, of: id) } }
            try await group.waitForAll()
        }
        let counts = try await world.database.read { try MatchRecords($0).counts() }
        #expect(counts.waiting == 0 && counts.matches == 10)
    }
}
