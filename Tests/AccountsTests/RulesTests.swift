import Basics
import Crypto
import GatewayAPI
import HTTPTypes
import RPC
import TestSupport
import Testing

@testable import Accounts

@Suite(.timeLimited) struct RulesTests {
    @Test func opaqueTokensAreRecognizableAndKnownAgain() throws {
        let token = OpaqueToken(.apiKey, id: "0193f3a0-0000-7000-8000-000000000001")
        #expect(token.text.hasPrefix("dgwk"))
        #expect(token.text.count == 92)
        #expect(Base64.decode(token.text)?.count == 69)
        let parsed = try #require(OpaqueToken(.apiKey, text: token.text))
        #expect(parsed.id == token.id)
        #expect(parsed.digest(pepper: [1]) == token.digest(pepper: [1]))
        #expect(parsed.digest(pepper: [1]) != token.digest(pepper: [2]))
        #expect(OpaqueToken(.refresh, text: token.text) == nil)
        #expect(OpaqueToken(.apiKey, text: token.text + "AAAA") == nil)
        #expect(OpaqueToken(.apiKey, text: "dgwk") == nil)
        #expect(OpaqueToken(.apiKey, text: String(repeating: "é", count: 46)) == nil)
    }

    @Test func successorsAreTheSameEachTimeAndNeedThePepper() {
        let token = OpaqueToken(.refresh, id: "0193f3a0-0000-7000-8000-000000000001")
        let successor = token.successor(pepper: [1])
        #expect(token.successor(pepper: [1]).text == successor.text)
        #expect(token.successor(pepper: [2]).text != successor.text)
        #expect(successor.text != token.text)
        #expect(OpaqueToken(.refresh, text: successor.text)?.id == successor.id)
    }

    @Test func throttleLetsABurstThroughAndThenTheRate() {
        let throttle = Throttle(perMinute: 3, capacity: 2)
        var now = UnixTime(seconds: 1000)
        for _ in 0..<3 { #expect(throttle.take("a", at: now) == nil) }
        #expect(throttle.take("a", at: now) == 20_000)
        #expect(throttle.take("b", at: now) == nil)
        throttle.giveBack("a")
        #expect(throttle.take("a", at: now) == nil)
        now = now.adding(seconds: 20)
        #expect(throttle.take("a", at: now) == nil)
        #expect(throttle.take("a", at: now) != nil)
    }

    @Test func throttleForgetsTheQuietOnesFirst() {
        let throttle = Throttle(perMinute: 1, capacity: 2)
        let now = UnixTime(seconds: 1000)
        #expect(throttle.take("quiet", at: now) == nil)
        let later = now.adding(seconds: 60)
        #expect(throttle.take("busy", at: later) == nil)
        #expect(throttle.take("new", at: later) == nil)
        #expect(throttle.take("busy", at: later) != nil)
        #expect(throttle.take("new", at: later) != nil)
    }

    @Test func throttleKeepsTheCountsOfKeysInUseWhenManyOthersCome() {
        let throttle = Throttle(perMinute: 3, capacity: 100)
        let now = UnixTime(seconds: 1000)
        for _ in 0..<3 { #expect(throttle.take("victim", at: now) == nil) }
        for key in 0..<10_000 { #expect(throttle.take("walked \(key)", at: now) == nil) }
        #expect(throttle.take("victim", at: now) != nil)
        #expect(throttle.keyCount <= 100)
    }

    @Test func aHostOfIPv6IsLimitedWhateverItCallsItself() {
        let failures = LoginFailures(AccountsConfiguration(), pepper: [])
        let now = UnixTime(seconds: 1000)
        func waits(_ peer: String) -> Bool {
            let address = AddressRange.countedAsOne(peer)
            return failures.count(.init(account: "acme/ann", address: address, isKnown: false), at: now) != nil
        }
        var number = 0
        while !waits("2001:db8:1:2::\(String(number, radix: 16))") { number += 1 }
        #expect(number < 100)
        #expect(waits("2001:db8:1:2:ffff::1"))
        #expect(!waits("2001:db8:1:3::1"))
    }

    @Test func ownersTakeTurnsAndWhoHasTheMostIsDisplaced() {
        var queue = FairQueue<String>(capacity: 4)
        for number in 1...4 { #expect(queue.append("a\(number)", of: ["a"]) == nil) }
        #expect(queue.append("a5", of: ["a"]) == "a5")
        #expect(queue.append("b1", of: ["b"]) == "a4")
        #expect(queue.append("b2", of: ["b"]) == "a3")
        #expect(queue.append("b3", of: ["b"]) == "b3")
        #expect(queue.append("c1", of: ["c"]) != nil)
        #expect(queue.count == 4)
        let order = (0..<5).map { _ in queue.popFirst() }
        #expect(order == ["a1", "b1", "c1", "a2", nil] || order == ["a1", "b1", "c1", "b2", nil])
        #expect(queue.count == 0)
    }

    @Test func asManyOwnersAsPlacesKeepAnotherOut() {
        var queue = FairQueue<Int>(capacity: 3)
        for owner in 0..<3 { #expect(queue.append(owner, of: ["\(owner)"]) == nil) }
        #expect(queue.append(9, of: ["another"]) == 9)
        #expect(queue.popFirst() == 0)
        #expect(queue.append(9, of: ["another"]) == nil)
    }

    @Test func partsOfAnOwnerShareItsTurnsAndItsPlaces() {
        var queue = FairQueue<String>(capacity: 6)
        for number in 1...6 { #expect(queue.append("a\(number)", of: ["a", "\(number)"]) == nil) }
        // Another owner gets half of the places, however many parts the first one has.
        let displaced = (1...3).map { queue.append("b\($0)", of: ["b", "1"]) }
        #expect(displaced.allSatisfy { $0?.hasPrefix("a") == true })
        #expect(queue.append("b4", of: ["b", "1"]) == "b4")
        #expect(queue.append("b4", of: ["b", "2"]) == "b3")
        #expect(queue.count == 6)
        let order = (0..<7).map { _ in queue.popFirst()?.first }
        #expect(order == ["a", "b", "a", "b", "a", "b", nil])
        #expect(queue.count == 0)
    }

    @Test func pageTokensOpenForTheirScopeOnly() {
        let tokens = PageTokens(keyring: Keyring(root: Secret([1, 2, 3])))
        let token = tokens.seal("after:7", scope: "devices|1|")
        #expect(tokens.open(token, scope: "devices|1|") == "after:7")
        #expect(tokens.open(token, scope: "devices|2|") == nil)
        // The contents are encrypted.
        let bytes = Base64.decodeURL(token) ?? []
        #expect(!String(decoding: bytes, as: UTF8.self).contains("after"))
        #expect(tokens.seal("after:8", scope: "devices|1|") != token)
        #expect(tokens.open(String(token.dropLast(2)) + "AA", scope: "devices|1|") == nil)
        #expect(tokens.open("", scope: "devices|1|") == nil)
        #expect(tokens.open("!", scope: "devices|1|") == nil)
        #expect(PageTokens(keyring: Keyring(root: Secret([4]))).open(token, scope: "devices|1|") == nil)
    }

    @Test func tagsKeepTheirLimits() throws {
        let many = Dictionary(uniqueKeysWithValues: (0..<192).map { ("k\($0)", "v") })
        try TagRules.check(many, field: "tags", maximum: 192)
        try TagRules.check(["é": String(repeating: "x", count: 2048)], field: "tags", maximum: 192)
        let refused: [[String: String]] = [
            many.merging(["one": "more"]) { old, _ in old }, ["": "v"], [String(repeating: "k", count: 65): "v"],
            ["k": String(repeating: "é", count: 1025)], ["k\n": "v"], ["k": "a\u{7F}"], ["k": "\u{85}"],
        ]
        for tags in refused {
            #expect(throws: RPCError.self) { try TagRules.check(tags, field: "tags", maximum: 192) }
        }
    }

    @Test func accountNamesOutsideTheirAlphabetAreRefused() {
        for good in ["a", "admin", "a.b_c@d+e-f", String(repeating: "x", count: 64)] {
            #expect(throws: Never.self) { try FieldRules.accountName(good, field: "user_name") }
        }
        for bad in ["", "-a", "a b", "a/b", "é", String(repeating: "x", count: 65)] {
            #expect(throws: RPCError.self) { try FieldRules.accountName(bad, field: "user_name") }
        }
    }

    @Test(arguments: ["", " ", " \u{A0}\u{3000}", String(repeating: "a", count: 129), "a\n"])
    func titleThatShowsNothingIsRefused(text: String) {
        #expect(throws: RPCError.self) { try FieldRules.title(text, field: "name") }
        #expect(throws: Never.self) { try FieldRules.title(" a ", field: "name") }
        #expect(throws: Never.self) { try FieldRules.optionalTitle("", field: "name") }
    }
}
