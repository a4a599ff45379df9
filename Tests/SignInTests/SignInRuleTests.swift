import AppProto
import AppSupport
import Basics
import Crypto
import Database
import GRPCWire
import GatewayProto
import GatewayTesting
import Protobuf
import RPC
import TestSupport
import Testing

@testable import SignIn

/// The rules of accounts, profiles and knowledge bases.
@Suite(.timeLimited) struct SignInRuleTests {
    // MARK: Settings

    @Test func secretOfDevelopersCountsOnALoopbackListenerOnly() throws {
        let settings = try TestSettings(secret: "secret of developers")
        let local = SignInConfiguration(try settings.section())
        #expect(local.devSecret != nil && !local.ignoresDevSecret)
        let reachable = SignInConfiguration(try settings.section(isOnLoopback: false))
        #expect(reachable.devSecret == nil && reachable.ignoresDevSecret)
    }

    @Test(arguments: [(String?.some("true"), RESTStyle.Errors.envelope), ("false", .http), (nil, .http)])
    func envelopeIsUsedOnlyIfItIsConfigured(_ value: String?, _ errors: RESTStyle.Errors) throws {
        let settings = try TestSettings(value.map { ["envelope": $0] } ?? [:])
        var style = try #require(SignInApp.api.routes.first?.style)
        SignInApp(try settings.section()).adapt(&style)
        #expect(style.errors == errors)
    }

    // MARK: Accounts

    @Test func adminOfTheOrganizationHasAProfileAndTheLastOneStays() async throws {
        let app = try await TestSignIn()
        let system = try await app.world.login().accessToken
        _ = try await app.world.createUser("boss", role: "admin", token: system, organization: TestSignIn.organization)
        let boss = try await app.world.login("boss", organization: TestSignIn.organization, password: "long enough")
        let profile = try await app.me(boss.accessToken)
        #expect(profile.role == "ADMIN" && profile.email == nil)
        #expect(try await app.me(boss.accessToken) == profile)
        let kept = await refusal {
            _ = try await app.app.profiles.deleteMe(DeleteMeRequest(), context: try app.call(boss.accessToken))
        }
        #expect(kept?.status == .failedPrecondition)
        // A member is deleted.
        let ada = try await app.signIn().accessToken
        _ = try await app.app.profiles.deleteMe(DeleteMeRequest(), context: try app.call(ada))
        #expect(await refusal { _ = try await app.me(ada) }?.status == .unauthenticated)
    }

    @Test func addressIsComparedWithoutCaseAndHintsAreForNewAccounts() async throws {
        let app = try await TestSignIn()
        let first = try await app.signIn("Ada@Example.com", nickname: "Ada").user
        #expect(first?.email == "ada@example.com" && first?.nickname == "Ada")
        #expect(try await app.signIn("ada@example.COM", nickname: "Eve").user == first)
    }

    @Test func signInsWaitForAnOrganizationThatWasDeleted() async throws {
        let app = try await TestSignIn()
        _ = try await app.world.database.write {
            try $0.execute("DELETE FROM organizations WHERE name = $1", TestSignIn.organization)
        }
        #expect(await refusal { try await app.signIn() }?.status == .unavailable)
    }

    // MARK: Knowledge bases

    @Test func userHasAtMostAThousandKnowledgeBasesWithDeletedOnes() async throws {
        let app = try await TestSignIn()
        var token = try await app.signIn().accessToken
        var last = KnowledgeBase()
        for number in 0..<1000 {
            if number % 100 == 0 {
                app.advance(.minutes(1))
                token = try await app.signIn().accessToken
            }
            last = try await app.create("base \(number)", token: token)
        }
        app.advance(.minutes(1))
        try await app.delete(last, token: token)
        let refused = await refusal { try await app.create("one more", token: token) }
        #expect(refused?.status == .resourceExhausted)
        #expect(refused?.message == "a user may have at most 1000 knowledge bases")
        let bob = try await app.signIn("bob@example.com").accessToken
        try await app.create("another person's", token: bob)
        app.advance(.days(30))
        #expect(try await app.sweep() == 1)
        try await app.create("one more", token: try await app.signIn().accessToken)
    }

    // MARK: Texts

    @Test func firstUsableHintIsTheNickname() {
        #expect(ProfileText.nickname(hints: "Ada", "Lovelace") == "Ada")
        #expect(ProfileText.nickname(hints: nil, "", " ", "\u{0}", "Lovelace") == "Lovelace")
        #expect(ProfileText.nickname(hints: nil, "") == nil)
        #expect(ProfileText.nickname(hints: "a\u{0}b\u{1B}") == "ab")
        #expect(ProfileText.nickname(hints: "  a   b ") == "a b")
        let long = String(repeating: "长", count: 70)
        #expect(ProfileText.nickname(hints: long) == String(repeating: "长", count: 64))
    }

    @Test func nicknameHasAtMostSixtyFourCharacters() throws {
        #expect(try ProfileText.nickname("") == nil)
        #expect(try ProfileText.nickname(String(repeating: "长", count: 64))?.count == 64)
        // One character for a reader, but any number of bytes.
        let stacked = "e" + String(repeating: "\u{301}", count: 1000)
        for text in [String(repeating: "长", count: 65), "a\nb", stacked] {
            #expect(throws: RPCError.self) { _ = try ProfileText.nickname(text) }
        }
    }

    @Test(arguments: [
        "http://example.com/a.png", "javascript:alert(1)", "https://", "https://example.com/a b",
        "https://example.com/\"",
        "https://example.com/\n", "HTTPS://example.com", "https://" + String(repeating: "a", count: 2048),
    ])
    func pictureIsAPlainURL(_ text: String) throws {
        #expect(throws: RPCError.self) { _ = try ProfileText.avatarURL(text) }
        #expect(try ProfileText.avatarURL("https://example.com/a.png?b=c#d") == "https://example.com/a.png?b=c#d")
        #expect(try ProfileText.avatarURL("") == nil)
    }

    @Test(arguments: [
        "", "ada", "@example.com", "ada@", "ada@example", "a@b@c.de", "a d@example.com", "ada@ex.\u{FF}",
        String(repeating: "a", count: 250) + "@b.de",
    ])
    func addressHasAHostAndNoSpace(_ text: String) {
        let error = #expect(throws: RPCError.self) { _ = try ProfileText.email(text) }
        #expect(error?.message == "email must be an email")
    }
}
