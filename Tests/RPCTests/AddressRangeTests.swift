import HTTPTypes
import TestSupport
import Testing

@testable import RPC

@Suite(.timeLimited) struct AddressRangeTests {
    @Test(arguments: [
        ("192.0.2.0/24", "192.0.2.255", true), ("192.0.2.0/24", "192.0.3.0", false),
        ("192.0.2.128/25", "192.0.2.127", false), ("192.0.2.128/25", "192.0.2.128", true),
        ("192.0.2.7", "192.0.2.7", true), ("192.0.2.7", "192.0.2.6", false), ("192.0.2.7/32", "192.0.2.7", true),
        ("0.0.0.0/0", "203.0.113.9", true), ("0.0.0.0/0", "2001:db8::1", false),
        ("2001:db8::/33", "2001:db8:7fff::1", true), ("2001:db8::/33", "2001:db8:8000::1", false),
        ("::1", "::1", true), ("::1", "0:0:0:0:0:0:0:1", true), ("::/0", "2001:db8::1", true),
        ("192.0.2.0/24", "::ffff:192.0.2.9", true), ("192.0.2.0/24", "", false), ("0.0.0.0/0", "localhost", false),
    ])
    func holdsItsAddresses(range: String, host: String, isHeld: Bool) throws {
        #expect(try #require(AddressRange(range)).contains(host) == isHeld)
    }

    @Test(arguments: [
        "", "/", "/8", "192.0.2.0/", "192.0.2.0/33", "192.0.2.0/-1", "192.0.2.0/+8", "192.0.2.0/2 4", "192.0.2.0/24/8",
        "192.0.2.1/24", "2001:db8::/129", "2001:db8::1/32", "192.0.2", "192.0.2.0/0000000000000000024", "localhost",
        "[::1]", "192.0.2.1:80",
    ])
    func malformedRangeIsRefused(text: String) {
        #expect(AddressRange(text) == nil)
    }
}

@Suite(.timeLimited) struct AddressesCountedTests {
    @Test(arguments: [
        ("192.0.2.77", "192.0.2.77", "192.0.2.0/24"), ("::ffff:192.0.2.77", "192.0.2.77", "192.0.2.0/24"),
        ("2001:db8:1:2ff:1::5", "2001:db8:1:2ff::/64", "2001:db8:1:200::/56"), ("::1", "::/64", "::/56"),
        ("fe80::1:2%eth0", "fe80::/64", "fe80::/56"), ("", "", ""), ("unix", "unix", "unix"),
    ])
    func addressesOfOneHostAreCountedAsOne(_ host: String, asOne: String, neighbourhood: String) {
        #expect(AddressRange.countedAsOne(host) == asOne)
        #expect(AddressRange.neighbourhood(host) == neighbourhood)
    }

    @Test(arguments: ["192.0.2.0/24", "192.0.2.7", "2001:db8::/33", "::/0", "0.0.0.0/0", "::1"])
    func areSaidAsTheyWereRead(text: String) throws {
        #expect(try #require(AddressRange(text)).description == text)
    }
}

@Suite(.timeLimited) struct TrustedProxiesTests {
    private let proxies = TrustedProxies(["10.0.0.0/8", "2001:db8::1"].compactMap(AddressRange.init))

    private func origin(_ sender: String, _ fields: String...) -> String {
        proxies.origin(of: PeerAddress(host: sender, port: 7), forwardedFor: fields).host
    }

    @Test func theLastHopThatIsNoProxyIsTheCaller() {
        #expect(origin("10.0.0.1", "203.0.113.9") == "203.0.113.9")
        #expect(origin("10.0.0.1", "198.51.100.1, 203.0.113.9,\t10.0.0.2") == "203.0.113.9")
        #expect(origin("10.0.0.1", "198.51.100.1", "203.0.113.9, 10.0.0.2", "2001:db8::1") == "203.0.113.9")
    }

    @Test func whoeverIsNotListedStandsForItself() {
        #expect(origin("198.51.100.1", "203.0.113.9") == "198.51.100.1")
        #expect(TrustedProxies([]).origin(of: PeerAddress(host: "10.0.0.1", port: 7), forwardedFor: ["::1"]).port == 7)
    }

    @Test(arguments: [
        ("203.0.113.9:4711", "203.0.113.9"), ("[2001:db8::9]:4711", "2001:db8::9"), ("[2001:db8::9]", "2001:db8::9"),
        ("203.0.113.9:", "10.0.0.1"), ("203.0.113.9:99999", "10.0.0.1"), ("203.0.113.9:a", "10.0.0.1"),
        ("[203.0.113.9]:80", "10.0.0.1"), ("[2001:db8::9", "10.0.0.1"), ("[2001:db8::9]80", "10.0.0.1"),
    ])
    func aHopMayHaveAPort(hop: String, caller: String) {
        #expect(origin("10.0.0.1", "198.51.100.1, \(hop)") == caller)
    }

    @Test func aProxyThatNamesNobodyIsAsFarAsItsWordGoes() {
        #expect(origin("10.0.0.1") == "10.0.0.1")
        #expect(origin("10.0.0.1", "203.0.113.9, unknown") == "10.0.0.1")
        #expect(origin("10.0.0.1", "203.0.113.9, , 10.0.0.2") == "10.0.0.2")
        #expect(origin("10.0.0.1", "203.0.113.9/32") == "10.0.0.1")
        #expect(origin("10.0.0.1", "10.0.0.3, 10.0.0.2") == "10.0.0.3")
    }
}
