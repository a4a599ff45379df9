import Basics
import Crypto
import Database
import TestSupport
import Testing

@testable import Webhooks

@Suite(.timeLimited) struct OrganizationTurnsTests {
    private let scene: Scene

    init() throws { scene = try Scene() }

    private func due(_ turns: OrganizationTurns, limit: Int) throws -> [Delivery] {
        let now = scene.clock.now()
        return try scene.database.readBlocking {
            try EventRecords($0).due(for: "a", at: now, turns: turns, limit: limit).deliveries
        }
    }

    @Test func organizationsTakeTurns() throws {
        for number in 0..<6 { try scene.happens(to: "1/\(number)", organization: 1) }
        for number in 0..<2 { try scene.happens(to: "2/\(number)", organization: 2) }
        try scene.happens(to: "3/0", organization: 3)
        var turns = OrganizationTurns(slots: 100, isShared: true)
        let first = try due(turns, limit: 5)
        #expect(first.map(\.subject) == ["1/0", "2/0", "3/0", "1/1", "2/1"])
        for delivery in first { turns.begin(delivery) }
        // What is in progress is due until it is recorded, and is not chosen again.
        #expect(try due(turns, limit: 2).map(\.subject) == ["1/2", "1/3"])
    }

    @Test func theNextRequestBelongsToTheOrganizationAfterTheLast() throws {
        for organization in [Int64(1), 2, 3] {
            for number in 0..<4 { try scene.happens(to: "\(organization)/\(number)", organization: organization) }
        }
        var turns = OrganizationTurns(slots: 100, isShared: true)
        var order: [String] = []
        for _ in 0..<7 {
            let delivery = try #require(try due(turns, limit: 1).first)
            turns.begin(delivery)
            order.append(delivery.subject)
        }
        #expect(order == ["1/0", "2/0", "3/0", "1/1", "2/1", "3/1", "1/2"])
    }

    @Test func oneOrganizationHasThreeQuartersOfTheRequestsOfASharedWebhook() throws {
        for number in 0..<20 { try scene.happens(to: "1/\(number)", organization: 1) }
        var shared = OrganizationTurns(slots: 8, isShared: true)
        let begun = try due(shared, limit: 8)
        #expect(begun.count == 6)
        for delivery in begun { shared.begin(delivery) }
        #expect(try due(shared, limit: 2).isEmpty)
        try scene.happens(to: "2/0", organization: 2)
        #expect(try due(shared, limit: 2).map(\.subject) == ["2/0"])
        // The response ends its request, before the result is recorded.
        shared.endRequest(begun[0])
        #expect(try due(shared, limit: 8).map(\.subject) == ["2/0", "1/6"])
        #expect(try due(OrganizationTurns(slots: 8, isShared: false), limit: 8).count == 8)
        #expect(try due(OrganizationTurns(slots: 1, isShared: true), limit: 1).count == 1)
    }

    @Test func theEarliestLaterTimeOfAllOrganizationsIsReported() throws {
        try scene.happens(to: "1/0", organization: 1)
        try scene.happens(to: "2/0", organization: 2)
        let now = scene.clock.now()
        for (delivery, delay) in zip(try due(OrganizationTurns(slots: 8, isShared: true), limit: 8), [Int64(90), 30]) {
            try scene.record(delivery, .retry(at: now.adding(seconds: delay), reason: "no"))
        }
        let found = try scene.database.readBlocking {
            try EventRecords($0).due(
                for: "a", at: now, turns: OrganizationTurns(slots: 8, isShared: true), limit: 8)
        }
        #expect(found == DueDeliveries(deliveries: [], nextDueAt: now.adding(seconds: 30)))
    }

    /// A flood of events of one organization costs the others none of theirs.
    @Test(arguments: [(Int64(6), Int64(1 << 30)), (1000, 30)])
    func onlyTheOrganizationWithTheMostEventsLosesTheOldest(count: Int64, bytes: Int64) throws {
        for number in 0..<2 { try scene.happens(to: "2/\(number)", organization: 2, payload: "12345") }
        for number in 0..<10 { try scene.happens(to: "1/\(number)", organization: 1, payload: "12345") }
        let excess = try scene.database.readBlocking {
            try EventRecords($0).excess(of: "a", state: 1, count: count, bytes: bytes)
        }
        #expect(excess.map(\.organizationID) == [1] && excess.map(\.count) == [6])
        let now = scene.clock.now()
        _ = try scene.database.writeBlocking {
            try EventRecords($0).giveUp(pendingFor: "a", of: 1, limit: 6, because: "too many", at: now)
        }
        #expect(try scene.letters().map(\.subject) == (0..<6).map { "1/\($0)" })
        let rest = try scene.database.readBlocking {
            try EventRecords($0).excess(of: "a", state: 1, count: count, bytes: bytes)
        }
        #expect(rest.isEmpty)
    }

    @Test(arguments: [
        ([Int64](), Int64(5), Int64.max), ([5], 5, .max), ([6], 5, 5), ([1, 9, 9], 9, 4), ([3, 3], 1, 0),
    ])
    func levelFitsIntoTheCapacity(demands: [Int64], capacity: Int64, level: Int64) {
        #expect(FairLevel.level(of: demands, in: capacity) == level)
    }

    @Test func everyWebhookHasAnEqualShareOfAllRequests() {
        var configuration = WebhooksConfiguration()
        configuration.concurrency = 64
        for (count, requests) in [(1, 64), (2, 64), (3, 42), (16, 8)] {
            configuration.webhooks = (0..<count).map {
                Webhook(name: "w\($0)", url: "http://127.0.0.1:1", keys: [Secret("0123456789abcdef")])
            }
            #expect(configuration.requestsOfWebhook == requests)
        }
    }
}
