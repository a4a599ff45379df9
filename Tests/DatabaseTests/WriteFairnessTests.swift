import Basics
import GatewayTesting
import TestSupport
import Testing

@testable import Database

/// The order in which owners get the writer's turns.
@Suite(.timeLimited) struct WriteFairnessTests {
    private let flood = WorkOwner.apiKey("flood", of: 1)
    private let other = WorkOwner.apiKey("other", of: 2)

    /// A write with a name.
    private struct Named: PendingWrite {
        let name: String
        let mayUseReserve = false
        func run(on connection: Connection) throws {}
        func takeEffect() {}
        func finish(_ failure: (any Error)?) {}
    }

    private func add(_ name: String, _ count: Int, for owner: WorkOwner?, to queue: WriteQueue) throws {
        for index in 0..<count { try queue.add(Named(name: "\(name)\(index)"), for: owner) }
    }

    private func take(_ queue: WriteQueue) -> [String] {
        (queue.take(.none)?.writes ?? []).compactMap { ($0 as? Named)?.name }
    }

    @Test func waitingWritesOfOneDelayAnotherByNoMoreThanABatch() throws {
        let queue = WriteQueue(capacity: 24_576, batch: 256)
        try add("flood", 3000, for: flood, to: queue)
        #expect(take(queue) == (0..<256).map { "flood\($0)" })
        try add("other", 10, for: other, to: queue)
        try add("gateway", 10, for: nil, to: queue)
        let next = take(queue)
        #expect(next.count == 256)
        #expect(next.filter { !$0.hasPrefix("flood") }.count == 20)
        // The writes of each owner stay in order.
        #expect(next.filter { $0.hasPrefix("other") } == (0..<10).map { "other\($0)" })
        #expect(next.filter { $0.hasPrefix("flood") } == (256..<492).map { "flood\($0)" })
        var rest = 0
        while queue.count > 0 { rest += take(queue).count }
        #expect(rest == 3000 - 256 - 236)
    }

    @Test func ownersHaveEqualSharesOfABatch() throws {
        let queue = WriteQueue(capacity: 4096, batch: 100)
        for owner in 0..<4 { try add("\(owner)-", 200, for: .apiKey("\(owner)", of: Int64(owner)), to: queue) }
        for _ in 0..<8 {
            let taken = take(queue)
            #expect(taken.count == 100)
            for owner in 0..<4 { #expect(taken.filter { $0.hasPrefix("\(owner)-") }.count == 25) }
        }
        #expect(queue.count == 0)
    }

    @Test func moreOwnersThanABatchGoByArrival() throws {
        let queue = WriteQueue(capacity: 4096, batch: 10)
        for round in 0..<2 {
            for owner in 0..<25 {
                try queue.add(Named(name: "\(owner).\(round)"), for: .apiKey("\(owner)", of: Int64(owner)))
            }
        }
        #expect(take(queue) == (0..<10).map { "\($0).0" })
        // An owner who has had a turn comes after those who have waited longer.
        #expect(take(queue) == (10..<20).map { "\($0).0" })
        #expect(take(queue) == (20..<25).map { "\($0).0" } + (0..<5).map { "\($0).1" })
    }

    @Test func anOrganizationHasAQuarterOfThePlacesAndAnOwnerHalfOfThat() throws {
        let queue = WriteQueue(capacity: 80, batch: 10)
        try add("flood", 10, for: flood, to: queue)
        #expect(throws: DatabaseError.overloaded) { try add("flood", 1, for: flood, to: queue) }
        let neighbors = (0..<2).map { WorkOwner.user(Int64($0), of: 1) }
        try add("neighbor", 9, for: neighbors[0], to: queue)
        try add("neighbor", 1, for: neighbors[1], to: queue)
        #expect(throws: DatabaseError.overloaded) { try add("neighbor", 1, for: neighbors[1], to: queue) }
        try add("other", 10, for: other, to: queue)
        try add("gateway", 50, for: nil, to: queue)
        #expect(throws: DatabaseError.overloaded) { try add("gateway", 1, for: nil, to: queue) }
        _ = take(queue)
        try add("flood", 1, for: flood, to: queue)
    }

    /// Otherwise an organization would get more turns with every device.
    @Test func organizationsHaveEqualSharesHoweverManyOwnersTheyHave() throws {
        let queue = WriteQueue(capacity: 4096, batch: 100)
        for device in 0..<50 { try add("flood-", 10, for: .apiKey("\(device)", of: 1), to: queue) }
        try add("other-", 80, for: other, to: queue)
        let taken = take(queue)
        #expect(taken.filter { $0.hasPrefix("other-") }.count == 50)
        #expect(taken.filter { $0.hasPrefix("flood-0") }.count == 50)
    }

    @Test func aTaskWaitsAsWhomItWorksFor() async throws {
        let scratch = try Scratch()
        var options = Database.Options()
        options.waitingWrites = 16
        let database = try scratch.database(options: options)
        let release = try database.holdWriter()
        let replies = Replies()
        WorkOwner.$current.withValue(flood) {
            for index in 0..<3 { database.submit({ _ in index }, reply: replies.record("\(index)")) }
        }
        database.submit({ _ in 3 }, reply: replies.record("3"))
        // One owner gets two of 16 places.
        release()
        let responses = try replies.wait(for: 4)
        #expect(responses.filter { $0.hasSuffix("ok") }.count == 3)
    }
}
