import Basics
import GRPCWire
import GatewayAPI
import GatewayTesting
import Proto
import RPC
import TestSupport
import Testing

@testable import Accounts

@Suite(.timeLimited) struct ServiceAccountTests {
    @Test func itsCredentialOpensWhatAnAdminOfSystemMay() async throws {
        let world = try await TestAccounts()
        let admin = try await world.login().accessToken
        _ = try await world.createOrganization("acme", token: admin)
        let service = try await world.service(token: admin)
        let reply = try await world.exchangeSystem(service.credential)
        #expect(reply.tokenType == "Bearer")
        #expect(reply.accessTokenExpiresAtUnix == world.clock.now().seconds + 900)
        #expect((reply.organization, reply.userName) == ("system", "robot"))
        let caller = try world.call(
            UserAuthServiceMethods.listUsers, token: reply.accessToken, organization: "acme"
        ).user
        #expect((caller.name, caller.organization.name) == ("robot", "acme"))
        let wrongDoor = await refusal {
            _ = try world.call(DataGatewayServiceMethods.createLogicalUpload, token: reply.accessToken)
        }
        #expect(wrongDoor?.detail == .unauthenticated)
        #expect(try world.audit().contains("user:system/admin system IssueSystemCredential users/3 OK 1"))
    }

    @Test func noPasswordSignsItIn() async throws {
        let world = try await TestAccounts()
        let admin = try await world.login().accessToken
        _ = try await world.service(token: admin)
        for password in ["", "long enough"] {
            let error = await refusal { _ = try await world.login("robot", password: password) }
            #expect(error?.detail == .authInvalidCredential)
        }
        func update(_ name: String, password: String? = nil, role: String? = nil) async throws {
            _ = try await world.accounts.userAuthService.updateUser(
                UpdateUserRequest(userName: name, password: password, role: role),
                context: world.call(UserAuthServiceMethods.updateUser, token: admin))
        }
        #expect(await refusal { try await update("robot", password: "long enough") }?.status == .failedPrecondition)
        #expect(await refusal { try await update("robot", role: "admin") }?.status == .failedPrecondition)
        _ = try await world.createUser("ada", role: "viewer", token: admin)
        #expect(await refusal { try await update("ada", role: "service") }?.status == .failedPrecondition)
    }

    @Test func onlySystemHasThem() async throws {
        let world = try await TestAccounts()
        let admin = try await world.login().accessToken
        let boss = try await world.createOrganization("acme", token: admin)
        for (token, organization) in [(boss, nil), (admin, "acme")] {
            let error = await refusal {
                _ = try await world.createUser("robot", role: "service", token: token, organization: organization)
            }
            #expect(error?.status == .permissionDenied)
        }
        let person = await refusal { _ = try await world.issueCredential(to: "admin", token: admin) }
        #expect(person?.status == .failedPrecondition)
        #expect(await refusal { _ = try await world.issueCredential(to: "none", token: admin) }?.status == .notFound)
    }

    /// If it counted, the last person could be removed.
    @Test func itDoesNotCountAsTheLastAdmin() async throws {
        let world = try await TestAccounts()
        let admin = try await world.login().accessToken
        let service = try await world.service(token: admin)
        let error = await refusal {
            _ = try await world.accounts.userAuthService.deleteUser(
                DeleteUserRequest(userName: "admin"),
                context: world.call(UserAuthServiceMethods.deleteUser, token: service.token))
        }
        #expect(error?.status == .failedPrecondition)
    }

    @Test func malformedUnknownAndWrongAreOneRefusalAndWrongOnesAreLimited() async throws {
        let world = try await TestAccounts { $0.wrongCredentialsOfKey = 3 }
        let service = try await world.service(token: try await world.login().accessToken)
        let id = try #require(OpaqueToken(.system, text: service.credential)).id
        let wrong = OpaqueToken(.system, id: id).text
        let unknown = OpaqueToken(.system, id: "0193f3a0-0000-7000-8000-000000000001").text
        var refusals: Set<RPCError> = []
        for credential in ["", "nonsense", unknown, OpaqueToken(.apiKey, id: id).text, wrong, wrong, wrong] {
            if let error = await refusal({ _ = try await world.exchangeSystem(credential) }) { refusals.insert(error) }
        }
        #expect(refusals.map(\.detail) == [.authInvalidCredential])
        let limited = await refusal { _ = try await world.exchangeSystem(wrong) }
        #expect(limited?.status == .unavailable)
        #expect(limited?.detail == nil)
        _ = try await world.exchangeSystem(service.credential)
    }

    @Test func aNewCredentialEndsTheOldOneAndItsTokens() async throws {
        let world = try await TestAccounts()
        let admin = try await world.login().accessToken
        let old = try await world.service(token: admin)
        let new = try await world.issueCredential(to: "robot", token: admin)
        let list = UserAuthServiceMethods.listUsers
        #expect(await refusal { _ = try world.call(list, token: old.token) }?.detail == .unauthenticated)
        let error = await refusal { _ = try await world.exchangeSystem(old.credential) }
        #expect(error?.detail == .authInvalidCredential)
        let token = try await world.exchangeSystem(new).accessToken
        _ = try world.call(list, token: token)
        _ = try await world.accounts.userAuthService.deleteUser(
            DeleteUserRequest(userName: "robot"), context: world.call(UserAuthServiceMethods.deleteUser, token: admin))
        #expect(await refusal { _ = try world.call(list, token: token) }?.detail == .unauthenticated)
        #expect(await refusal { _ = try await world.exchangeSystem(new) }?.detail == .authInvalidCredential)
    }
}
