import Basics
import TestSupport
import Testing

@testable import Accounts

@Suite(.timeLimited) struct UnprovenCallsTests {
    private let calls = UnprovenCalls()

    private func note(_ device: String, from address: String = "192.0.2.1", at second: Int64 = 0) {
        calls.note(device, from: address, reason: "R", at: UnixTime(seconds: second))
    }

    @Test func addressesBeyondTheLimitAreCountedTogether() {
        for number in 1...10 { note("d", from: "192.0.2.\(number)", at: Int64(number)) }
        note("d", from: "192.0.2.1", at: 20)
        let found = calls.calls(naming: "d")
        #expect(found.count == 9)
        #expect(found.map(\.address).prefix(2) == ["192.0.2.1", "others"])
        #expect(found.map(\.count).prefix(2) == [2, 2])
    }

    @Test func devicesThatWereNotedLastAreRemembered() {
        for number in 0..<2500 { note("\(number)") }
        #expect(calls.calls(naming: "0").isEmpty)
        #expect(calls.calls(naming: "2499").map(\.count) == [1])
        #expect((0..<2500).count { !calls.calls(naming: "\($0)").isEmpty } <= 2000)
    }

    @Test func deviceOfTheEarlierHalfKeepsItsCount() {
        note("a")
        for number in 0..<1000 { note("\(number)") }
        note("a")
        #expect(calls.calls(naming: "a").map(\.count) == [2])
    }
}
