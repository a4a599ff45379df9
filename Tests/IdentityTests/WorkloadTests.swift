import Accounts
import Basics
import GRPCWire
import GatewayFormats
import GatewayTesting
import Proto
import RPC
import TestSupport
import Testing

@testable import Identity

@Suite(.timeLimited) struct WorkloadTests {
    /// A gateway with the service account of the configuration.
    private func world(_ configure: (inout [IdentityProvider]) -> Void = { _ in }) async throws -> TestIdentity {
        let identity = try await TestIdentity(configure)
        let admin = try await identity.world.login().accessToken
        _ = try await identity.world.createUser("uploader", role: "service", token: admin)
        return identity
    }

    @Test func tokenOfTheRepositoryOpensTheAccount() async throws {
        let identity = try await world()
        let reply = try await identity.exchange(identity.workloadToken())
        #expect(reply.userName == "uploader")
        #expect(reply.organization == "system")
        #expect(reply.tokenType == "Bearer")
        _ = try identity.world.call(AdminAuthServiceMethods.listSites, token: reply.accessToken)
        let line = try #require(try identity.world.rows.audit().last)
        #expect(line.actor == "user:system/uploader")
        #expect(line.action == "ExchangeWorkloadToken")
        #expect(line.ids == ["repo:acme/robots:ref:refs/heads/main"])
    }

    @Test(arguments: [
        ["repository": #""acme/other""#], ["repository": #""acme/robots/x""#], ["repository": ""],
        ["repository": #"["acme/robots"]"#], ["ref": #""refs/heads/other""#], ["ref": #""refs/heads/Main""#],
        ["aud": #""another""#], ["iss": #""https://ci.example.com/""#], ["iss": #""https://sso.example.com""#],
    ])
    func otherWorkloadsAreRefused(_ changes: [String: String]) async throws {
        let identity = try await world()
        let error = await refusal { _ = try await identity.exchange(identity.workloadToken(changes)) }
        #expect(error?.detail == .authInvalidCredential)
    }

    @Test func tokenIsExchangedOnce() async throws {
        let identity = try await world()
        let token = identity.workloadToken()
        _ = try await identity.exchange(token)
        _ = try await identity.exchange(token)
        identity.world.clock.advance(seconds: 30)
        #expect(await refusal { _ = try await identity.exchange(token) }?.detail == .authInvalidCredential)
    }

    @Test func reusableTokensAreExchangedUntilTheyExpire() async throws {
        let identity = try await world { $0[1].acceptsWorkloadTokensAgain = true }
        let token = identity.workloadToken()
        _ = try await identity.exchange(token)
        identity.world.clock.advance(seconds: 600)
        _ = try await identity.exchange(token)
        identity.world.clock.advance(seconds: 60)
        #expect(await refusal { _ = try await identity.exchange(token) }?.detail == .authInvalidCredential)
    }

    @Test func missingAccountIsNotTheWorkloadsFault() async throws {
        let identity = try await TestIdentity()
        #expect(await refusal { _ = try await identity.exchange(identity.workloadToken()) }?.status == .unavailable)
    }

    @Test func newCredentialOfTheAccountEndsItsTokens() async throws {
        let identity = try await world()
        let token = try await identity.exchange(identity.workloadToken()).accessToken
        let admin = try await identity.world.login().accessToken
        _ = try await identity.world.issueCredential(to: "uploader", token: admin)
        let error = await refusal {
            _ = try identity.world.call(AdminAuthServiceMethods.listSites, token: token)
        }
        #expect(error?.detail == .unauthenticated)
    }
}
