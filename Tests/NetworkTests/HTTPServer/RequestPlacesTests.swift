import Basics
import Dispatch
import Synchronization
import TestSupport
import Testing

@testable import HTTPServer

@Suite(.timeLimited) struct RequestPlacesTests {
    private let flood = WorkOwner.address("192.0.2.9")
    private let other = WorkOwner.address("192.0.2.1")

    /// Enters on a thread of its own, and returns after the request waits.
    private func waiting(
        _ places: RequestPlaces, _ party: WorkOwner, then done: @escaping @Sendable (Bool) -> Void
    ) throws {
        let before = places.waitingCount
        _ = TestThread { done(places.enter(party)) }
        try waitUntil { places.waitingCount > before }
    }

    @Test func requestsBeyondTheLimitWaitInOrderAndDelayNoOtherParty() throws {
        let waits = Lock(0)
        let places = RequestPlaces(limit: 2) { waits.withLock { $0 += 1 } }
        #expect(places.enter(flood) && places.enter(flood))
        let order = Lock<[Int]>([])
        let entered = DispatchSemaphore(value: 0)
        for number in 0..<3 {
            try waiting(places, flood) { _ in
                order.withLock { $0.append(number) }
                entered.signal()
            }
        }
        #expect(places.enter(other))
        #expect(waits.withLock { $0 } == 3)
        for _ in 0..<3 {
            places.leave(flood)
            try entered.waitForSignal()
        }
        #expect(order.withLock { $0 } == [0, 1, 2])
        #expect(places.waitingCount == 0)
    }

    @Test func aKnownCallerGivesBackThePlaceOfTheAddress() {
        let places = RequestPlaces(limit: 1)
        let place = RequestPlace(in: places)
        #expect(place.enter(flood) && place.enter(.staticKey("key")))
        // The address has its place again.
        let next = RequestPlace(in: places)
        #expect(next.enter(flood))
        place.leave()
        #expect(next.enter(.staticKey("key")))
        next.leave()
    }

    @Test func requestsThatWaitAreRefusedAtTheEnd() throws {
        let places = RequestPlaces(limit: 1)
        #expect(places.enter(flood))
        let refused = DispatchSemaphore(value: 0)
        try waiting(places, flood) { isAdmitted in
            if !isAdmitted { refused.signal() }
        }
        places.close()
        try refused.waitForSignal()
        #expect(!places.enter(other))
    }
}
