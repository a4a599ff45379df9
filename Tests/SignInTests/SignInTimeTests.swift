import AppProto
import Basics
import GRPCWire
import GatewayTesting
import RPC
import TestSupport
import Testing

@testable import SignIn

/// Everything of the app that ends with time.
@Suite(.timeLimited) struct SignInTimeTests {
    private let app: TestSignIn

    init() async throws {
        app = try await TestSignIn()
    }

    private static let wrongToken = "刷新令牌无效或已过期"

    @Test func sessionEndsAfterThirtyDaysAlthoughItIsRefreshed() async throws {
        var token = try await app.signIn().refreshToken
        for _ in 1...29 {
            app.advance(.days(1))
            token = try await app.refresh(token).refreshToken
        }
        app.advance(.days(1) - .seconds(1))
        let last = try await app.refresh(token)
        #expect(try await app.me(last.accessToken).email == "ada@example.com")
        app.advance(.seconds(1))
        let late = await refusal { _ = try await app.refresh(last.refreshToken) }
        #expect(late?.status == .unauthenticated && late?.message == Self.wrongToken)
    }

    @Test func accessTokenEndsAfterFifteenMinutesAndTheSessionGoesOn() async throws {
        let session = try await app.signIn()
        app.advance(.minutes(15) - .seconds(1))
        #expect(try await app.me(session.accessToken) == session.user)
        app.advance(.seconds(1))
        let late = await refusal { _ = try await app.me(session.accessToken) }
        #expect(late?.status == .unauthenticated)
        let next = try await app.refresh(session.refreshToken)
        #expect(try await app.me(next.accessToken) == session.user)
    }

    @Test func lostResponseToARefreshIsRepeatedForThirtySeconds() async throws {
        let session = try await app.signIn()
        let next = try await app.refresh(session.refreshToken)
        app.advance(.seconds(29))
        #expect(try await app.refresh(session.refreshToken).refreshToken == next.refreshToken)
        app.advance(.seconds(1))
        // Somebody else has the token as well.
        let late = await refusal { _ = try await app.refresh(session.refreshToken) }
        #expect(late?.message == Self.wrongToken)
        let ended = await refusal { _ = try await app.refresh(next.refreshToken) }
        #expect(ended?.message == Self.wrongToken)
    }

    @Test func deletedKnowledgeBaseIsRemovedAfterThirtyDays() async throws {
        let token = try await app.signIn().accessToken
        let (kept, deleted) = (
            try await app.create("kept", token: token), try await app.create("deleted", token: token)
        )
        try await app.delete(deleted, token: token)
        app.advance(.days(30) - .seconds(1))
        #expect(try await app.sweep() == 0)
        let before = try await app.export(try await app.signIn().accessToken).knowledgeBases
        #expect(Set(before.map(\.id)) == [kept.id, deleted.id])
        app.advance(.seconds(1))
        #expect(try await app.sweep() == 1)
        #expect(try await app.sweep() == 0)
        let after = try await app.export(try await app.signIn().accessToken).knowledgeBases
        #expect(after.map(\.id) == [kept.id])
    }

    @Test func wrongSecretsAreRefusedForAMinute() async throws {
        for _ in 0..<10 {
            let wrong = await refusal { try await app.signIn(secret: "another secret") }
            #expect(wrong?.status == .unauthenticated)
        }
        let limited = await refusal { try await app.signIn() }
        #expect(limited?.status == .resourceExhausted && limited?.retryAfterMilliseconds != nil)
        app.advance(.minutes(1))
        for _ in 0..<20 { try await app.signIn() }
    }

    @Test func changesOfAUserAreLimitedForAMinute() async throws {
        let (ada, bob) = (try await app.signIn().accessToken, try await app.signIn("bob@example.com").accessToken)
        for _ in 0..<120 { _ = try await app.update(UpdateMeRequest(nickname: "Ada"), token: ada) }
        let limited = await refusal { _ = try await app.update(UpdateMeRequest(nickname: "Eve"), token: ada) }
        #expect(limited?.status == .resourceExhausted && limited?.retryAfterMilliseconds != nil)
        let base = await refusal { try await app.create("base", token: ada) }
        #expect(base?.status == .resourceExhausted)
        #expect(try await app.update(UpdateMeRequest(nickname: "Bob"), token: bob).nickname == "Bob")
        #expect(try await app.me(ada).nickname == "Ada")
        app.advance(.minutes(1))
        #expect(try await app.update(UpdateMeRequest(nickname: "Eve"), token: ada).nickname == "Eve")
    }
}
