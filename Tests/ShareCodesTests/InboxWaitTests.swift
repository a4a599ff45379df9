import AppProto
import Basics
import GatewayTesting
import RPC
import TestSupport
import Testing

@testable import ShareCodes

/// Lists that wait for a request. No test waits for a time: each wait ends by an event.
@Suite(.timeLimited) struct InboxWaitTests {
    /// Returns when this number of lists waits.
    private func waiting(_ count: Int, in codes: TestShareCodes) async {
        while codes.app.waits.count != count { await Task.yield() }
    }

    @Test func waitingListEndsWithTheNextRequest() async throws {
        let codes = try TestShareCodes()
        let ada = try await codes.claim("ada")
        async let list = codes.inbox(ada, status: "pending", wait: 50)
        await waiting(1, in: codes)
        try await codes.ask("r0", to: "eve")
        try await codes.ask("r1")
        #expect(try await list.requests.map(\.requestID) == ["r1"])
        #expect(codes.app.waits.count == 0)
    }

    @Test func waitingListEndsWithARequestAtAnotherGateway() async throws {
        let first = try TestShareCodes(isShared: true)
        let second = try TestShareCodes(replicaOf: first)
        let ada = try await first.claim("ada")
        async let list = second.inbox(ada, status: "pending", wait: 50)
        await waiting(1, in: second)
        // It has looked for requests, and waits.
        await second.calls.next(2)
        try await first.ask("r1")
        #expect(try await list.requests.map(\.requestID) == ["r1"])
    }

    @Test func listWithRequestsDoesNotWait() async throws {
        let codes = try TestShareCodes()
        let ada = try await codes.claim("ada")
        try await codes.ask("r1")
        #expect(try await codes.inbox(ada, wait: 50).requests.count == 1)
    }

    @Test func allListsOfAPersonWakeAndOthersWaitOn() async throws {
        let codes = try TestShareCodes()
        let (ada, eve) = (try await codes.claim("ada"), try await codes.claim("eve"))
        async let first = codes.inbox(ada, wait: 50)
        async let second = codes.inbox(ada, wait: 50)
        async let other = codes.inbox(eve, wait: 50)
        await waiting(3, in: codes)
        try await codes.ask("r1")
        #expect(try await first.requests.count == 1)
        #expect(try await second.requests.count == 1)
        #expect(codes.app.waits.count == 1)
        try await codes.ask("r2", to: "eve")
        #expect(try await other.requests.count == 1)
    }

    @Test func canceledListLeavesItsPlace() async throws {
        let codes = try TestShareCodes()
        let ada = try await codes.claim("ada")
        let list = Task { try await codes.inbox(ada, wait: 50) }
        await waiting(1, in: codes)
        list.cancel()
        await #expect(throws: CancellationError.self) { _ = try await list.value }
        #expect(codes.app.waits.count == 0)
    }

    @Test func listsEndWhenTheGatewayStops() async throws {
        let codes = try TestShareCodes()
        let ada = try await codes.claim("ada")
        async let list = codes.inbox(ada, wait: 50)
        await waiting(1, in: codes)
        codes.state.stopServing()
        #expect(try await list.requests.isEmpty)
        #expect(codes.app.waits.hasEnded)
        // Later ones do not wait at all.
        #expect(try await codes.inbox(ada, wait: 50).requests.isEmpty)
    }

    @Test func listWithoutAPlaceAnswersAtOnce() async throws {
        let codes = try TestShareCodes { $0.waitingListsOfAddress = 1 }
        let (ada, bob) = (try await codes.claim("ada"), try await codes.claim("bob"))
        async let list = codes.inbox(ada, wait: 50)
        await waiting(1, in: codes)
        #expect(try await codes.inbox(bob, wait: 50).requests.isEmpty)
        try await codes.ask("r1")
        #expect(try await list.requests.count == 1)
    }

    @Test func placesAreBoundedInAllAndOfAnAddress() throws {
        let waits = InboxWaits(limit: 3, ofAddress: 2)
        let first = try #require(waits.enter("a", for: "x"))
        let second = try #require(waits.enter("b", for: "x"))
        #expect(waits.enter("c", for: "x") == nil)
        let third = try #require(waits.enter("c", for: "y"))
        #expect(waits.enter("d", for: "z") == nil)
        for place in [first, second, third] { waits.leave(place) }
        #expect(waits.count == 0)
        #expect(waits.enter("c", for: "x") != nil)
    }

    @Test(arguments: [-1, 51, Int32.max])
    func waitOutsideItsBoundsIsRefused(_ wait: Int32) async throws {
        let codes = try TestShareCodes()
        let ada = try await codes.claim("ada")
        let error = await refusal { _ = try await codes.inbox(ada, wait: wait) }
        #expect(error?.summary == "INVALID_ARGUMENT wait")
        let status = await refusal { _ = try await codes.inbox(ada, status: "accepted") }
        #expect(status?.summary == "INVALID_ARGUMENT status")
    }
}
