import Basics
import Database
import GRPCWire
import GatewayTesting
import IdentityTokens
import RPC
import Synchronization
import TestSupport
import Testing

@testable import Identity

@Suite(.timeLimited) struct KeySourceTests {
    private static let url = "https://sso.example.com/keys"

    private let issuer = TestIssuer()
    private let clock = ManualClock()
    private let transport = StubTransport()
    private let database: TestDatabase

    init() throws {
        database = try TestDatabase(Self.keysOnly)
        publish(["a"])
    }

    /// The table of keys alone: the others refer to the accounts. A server has all tables.
    private static let keysOnly = [
        Migration(
            name: "keys",
            sql: """
                CREATE TABLE IF NOT EXISTS identity_keys (
                    provider TEXT PRIMARY KEY, issuer TEXT NOT NULL, body BLOB NOT NULL, read_at INTEGER NOT NULL
                ) STRICT;
                """)
    ]

    private func publish(_ ids: [String]?) {
        transport.set(Self.url, ids.map { TestIssuer.set($0.map { issuer.ec($0) }) })
    }

    private func source(issuer url: String = TestIssuer.url) -> KeySource {
        var provider = IdentityProvider(name: "corp", issuer: url, audiences: ["gateway"])
        provider.keysURL = Self.url
        let metadata = MetadataSource(issuer: url, transport: transport, clock: clock)
        return KeySource(
            provider, metadata: metadata, transport: transport, database: database.database, clock: clock,
            log: .discarding)
    }

    /// Returns whether the provider has the key; `nil` if nobody knows.
    private func has(_ id: String, _ source: KeySource) async -> Bool? {
        do {
            return try await source.keys(for: id).hasKey(id)
        } catch {
            #expect((error as? RPCError)?.status == .unavailable)
            return nil
        }
    }

    @Test func keysAreReadOnceWhileTheyAreFresh() async {
        let source = source()
        for _ in 0..<5 { #expect(await has("a", source) == true) }
        #expect(transport.gets.count == 1)
        clock.advance(seconds: 299)
        #expect(await has("a", source) == true)
        #expect(transport.gets.count == 1)
        clock.advance(seconds: 2)
        #expect(await has("a", source) == true)
        #expect(transport.gets.count == 2)
    }

    @Test(arguments: [(1, 300), (3600, 3600), (1_000_000, 86_400)])
    func freshnessFollowsTheProviderWithinBounds(_ maxAge: Int64, _ seconds: Int64) async {
        transport.state.withLock { $0.maxAge = .seconds(maxAge) }
        let source = source()
        _ = await has("a", source)
        clock.advance(seconds: seconds - 1)
        _ = await has("a", source)
        #expect(transport.gets.count == 1)
        clock.advance(seconds: 2)
        _ = await has("a", source)
        #expect(transport.gets.count == 2)
    }

    @Test func rotationWorksWithinOneCall() async {
        let source = source()
        _ = await has("a", source)
        publish(["b"])
        #expect(await has("b", source) == true)
        #expect(await has("a", source) == false)
        #expect(transport.gets.count == 2)
    }

    @Test func unknownKeysCauseOneReadingAMinute() async {
        let source = source()
        _ = await has("a", source)
        await withDiscardingTaskGroup { group in
            for number in 0..<1000 { group.addTask { #expect(await has("x\(number)", source) == false) } }
        }
        #expect(transport.gets.count == 2)
        clock.advance(seconds: 59)
        #expect(await has("y", source) == false)
        #expect(transport.gets.count == 2)
        clock.advance(seconds: 1)
        #expect(await has("y", source) == false)
        #expect(transport.gets.count == 3)
    }

    @Test func callersWaitForOneReading() async {
        let source = source()
        await withDiscardingTaskGroup { group in
            for _ in 0..<100 { group.addTask { #expect(await has("a", source) == true) } }
        }
        #expect(transport.gets.count == 1)
    }

    @Test func outageKeepsTheLastKeysForADay() async {
        let source = source()
        _ = await has("a", source)
        publish(nil)
        clock.advance(seconds: 86_399)
        #expect(await has("a", source) == true)
        // The new key of a rotation during the outage is not known, and not refused either.
        #expect(await has("b", source) == nil)
        clock.advance(seconds: 2)
        #expect(await has("a", source) == nil)
        publish(["a"])
        clock.advance(seconds: 5)
        #expect(await has("a", source) == true)
    }

    @Test func outageIsAskedAboutOnceAMinute() async {
        let source = source()
        _ = await has("a", source)
        publish(nil)
        clock.advance(seconds: 400)
        for _ in 0..<50 { #expect(await has("a", source) == true) }
        #expect(transport.gets.count == 2)
        clock.advance(seconds: 60)
        _ = await has("a", source)
        #expect(transport.gets.count == 3)
    }

    @Test func restartDuringAnOutageUsesTheStoredKeys() async {
        _ = await has("a", source())
        publish(nil)
        clock.advance(seconds: 3600)
        let restarted = source()
        #expect(await has("a", restarted) == true)
        #expect(await has("b", restarted) == nil)
        clock.advance(seconds: 86_400)
        #expect(await has("a", source()) == nil)
    }

    @Test func storedKeysOfAnotherIssuerAreNotUsed() async {
        _ = await has("a", source())
        publish(nil)
        #expect(await has("a", source(issuer: "https://other.example.com")) == nil)
    }

    @Test func malformedSetKeepsTheLastOne() async {
        let source = source()
        _ = await has("a", source)
        transport.set(Self.url, Array("<html>".utf8))
        clock.advance(seconds: 400)
        #expect(await has("a", source) == true)
    }

    @Test func clockThatJumpsBackDoesNotKeepOldKeys() async {
        let source = source()
        _ = await has("a", source)
        publish(["b"])
        clock.step(seconds: -86_400)
        #expect(await has("b", source) == true)
    }

    @Test func discoveryNamesTheKeys() async {
        let base = TestIssuer.url
        var provider = IdentityProvider(name: "corp", issuer: base, audiences: ["gateway"])
        provider.keysURL = nil
        let metadata = MetadataSource(issuer: base, transport: transport, clock: clock)
        let source = KeySource(
            provider, metadata: metadata, transport: transport, database: database.database, clock: clock,
            log: .discarding)
        let discovery = "\(base)/.well-known/openid-configuration"
        for (document, expected) in [
            (#"{"issuer":"https://other.example.com","jwks_uri":"\#(Self.url)"}"#, nil),
            (#"{"issuer":"\#(base)","jwks_uri":"http://sso.example.com/keys"}"#, nil),
            (#"{"issuer":"\#(base)"}"#, nil), (#"{"issuer":"\#(base)","jwks_uri":"\#(Self.url)"}"#, true),
        ] as [(String, Bool?)] {
            transport.set(discovery, Array(document.utf8))
            clock.advance(seconds: 5)
            #expect(await has("a", source) == expected, "\(document)")
        }
    }
}
