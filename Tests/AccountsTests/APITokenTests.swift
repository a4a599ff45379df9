import Basics
import Capability
import Database
import GRPCWire
import GatewayFormats
import GatewayTesting
import Proto
import RPC
import TestSupport
import Testing

@testable import Accounts

@Suite(.timeLimited) struct APITokenTests {
    private func list(_ userName: String = "", token: String, in world: TestAccounts) async throws -> [ApiToken] {
        try await world.accounts.apiTokenService.listApiTokens(
            ListApiTokensRequest(userName: userName),
            context: world.call(ApiTokenServiceMethods.listApiTokens, token: token)
        ).apiTokens
    }

    private func revoke(_ id: String, token: String, in world: TestAccounts) async -> RPCError? {
        await refusal {
            _ = try await world.accounts.apiTokenService.revokeApiToken(
                RevokeApiTokenRequest(tokenID: id),
                context: world.call(ApiTokenServiceMethods.revokeApiToken, token: token))
        }
    }

    @Test func textHasAPrefixAndAChecksum() throws {
        let token = APITokenText()
        #expect(token.text.wholeMatch(of: /dgwt_[0-9A-Za-z]{65}/) != nil)
        let parsed = try #require(APITokenText(text: token.text))
        #expect(parsed.id == token.id && parsed.digest(pepper: [1]) == token.digest(pepper: [1]))
        #expect(parsed.digest(pepper: [2]) != token.digest(pepper: [1]))
        for index in 0..<token.text.utf8.count {
            var changed = Array(token.text.utf8)
            changed[index] = changed[index] == UInt8(ascii: "a") ? UInt8(ascii: "b") : UInt8(ascii: "a")
            #expect(APITokenText(text: String(decoding: changed, as: UTF8.self)) == nil, "\(index)")
        }
        for text in ["", "dgwt_", token.text + "0", String(token.text.dropLast()), " \(token.text)"] {
            #expect(APITokenText(text: text) == nil)
        }
    }

    @Test func tokenHasTheRightsOfItsRole() async throws {
        let world = try await TestAccounts()
        let admin = try await world.login().accessToken
        let created = try await world.createToken("ci", role: "operator", token: admin)
        let id = try #require(created.apiToken?.tokenID)
        #expect(try world.audit().last == "user:system/admin system CreateApiToken apiTokens/\(id) OK 1")
        let user = try world.call(DeviceManagementServiceMethods.registerDevice, token: created.token).user
        #expect((user.name, user.role) == ("admin", .operator))
        #expect(Principal.user(user).name == "user:system/admin#\(id)")
        let refused = await refusal { _ = try world.call(UserAuthServiceMethods.listUsers, token: created.token) }
        #expect(refused?.message == "this call requires the role admin")
        let upload = await refusal {
            _ = try world.call(DataGatewayServiceMethods.createLogicalUpload, token: created.token)
        }
        #expect(upload?.detail == .unauthenticated)
    }

    @Test func tokenNeverHasMoreRightsThanItsUser() async throws {
        let world = try await TestAccounts()
        let admin = try await world.login().accessToken
        _ = try await world.createUser("olga", role: "operator", token: admin)
        let olga = try await world.login("olga", password: "long enough").accessToken
        let above = await refusal { _ = try await world.createToken("ci", role: "admin", token: olga) }
        #expect(above?.message == "role must be at most your own role, operator")
        let created = try await world.createToken("ci", role: "operator", token: olga)
        _ = try world.call(DeviceManagementServiceMethods.registerDevice, token: created.token)
        _ = try await world.accounts.userAuthService.updateUser(
            UpdateUserRequest(userName: "olga", role: "viewer"),
            context: world.call(UserAuthServiceMethods.updateUser, token: admin))
        let lowered = await refusal {
            _ = try world.call(DeviceManagementServiceMethods.registerDevice, token: created.token)
        }
        #expect(lowered?.status == .permissionDenied)
        _ = try world.call(DataGatewayObjectServiceMethods.listObjects, token: created.token)
        _ = try await world.accounts.userAuthService.deleteUser(
            DeleteUserRequest(userName: "olga"), context: world.call(UserAuthServiceMethods.deleteUser, token: admin))
        let refused = await refusal {
            _ = try world.call(DataGatewayObjectServiceMethods.listObjects, token: created.token)
        }
        #expect(refused?.detail == .unauthenticated)
    }

    @Test func tokenCreatesNoCredentials() async throws {
        let world = try await TestAccounts()
        let admin = try await world.login().accessToken
        _ = try await world.createUser("robot", role: "service", token: admin)
        let token = try await world.createToken("ci", role: "admin", token: admin).token
        #expect(
            await refusal { _ = try await world.createToken("more", role: "viewer", token: token) }?.status
                == .permissionDenied)
        #expect(
            await refusal { _ = try await world.issueCredential(to: "robot", token: token) }?.status
                == .permissionDenied
        )
    }

    /// Changes of sign-ins would outlive the token.
    @Test func tokenOfAnAdminDoesNotDecideWhoSignsIn() async throws {
        let world = try await TestAccounts()
        let admin = try await world.login().accessToken
        _ = try await world.createUser("olga", role: "operator", token: admin)
        let token = try await world.createToken("ci", role: "admin", token: admin).token
        let (users, identities) = (world.accounts.userAuthService, world.accounts.identityManagementService)
        func update(_ request: UpdateUserRequest) async -> RPCError? {
            await refusal {
                _ = try await users.updateUser(
                    request, context: world.call(UserAuthServiceMethods.updateUser, token: token))
            }
        }
        func delete(_ name: String) async -> RPCError? {
            await refusal {
                _ = try await users.deleteUser(
                    DeleteUserRequest(userName: name),
                    context: world.call(UserAuthServiceMethods.deleteUser, token: token))
            }
        }
        let refusals = [
            "set a password": await update(UpdateUserRequest(userName: "admin", password: "another password")),
            "make a user an admin": await update(UpdateUserRequest(userName: "olga", role: "admin")),
            "create an admin": await refusal { _ = try await world.createUser("eve", role: "admin", token: token) },
            "delete its own user": await delete("admin"),
            "reset a second factor": await refusal {
                _ = try await identities.resetSecondFactor(
                    ResetSecondFactorRequest(userName: "admin"),
                    context: world.call(IdentityManagementServiceMethods.resetSecondFactor, token: token))
            },
            "set how users sign in": await refusal {
                _ = try await identities.setSignInPolicy(
                    SetSignInPolicyRequest(policy: SignInPolicy()),
                    context: world.call(IdentityManagementServiceMethods.setSignInPolicy, token: token))
            },
        ]
        for (action, error) in refusals {
            #expect(error?.status == .permissionDenied, "\(action)")
            #expect(error?.message == "an API token cannot \(action): sign in and use the session of a person")
        }
        let other = await update(UpdateUserRequest(userName: "olga", password: "another password"))
        #expect(other?.status == .permissionDenied)
        // Users with fewer rights can be managed by a program.
        #expect(await update(UpdateUserRequest(userName: "olga", role: "viewer")) == nil)
        _ = try await world.createUser("vera", role: "viewer", token: token)
        #expect(await delete("olga") == nil)
        _ = try await world.login()
    }

    @Test func tokenActsForItsOrganizationsOnly() async throws {
        let world = try await TestAccounts()
        let admin = try await world.login().accessToken
        for name in ["acme", "other", "third"] { _ = try await world.createOrganization(name, token: admin) }
        let list = DataGatewayObjectServiceMethods.listObjects
        let one = try await world.createToken("one", role: "admin", organizations: ["acme"], token: admin).token
        #expect(try world.call(list, token: one).user.organization.name == "acme")
        #expect(try world.call(list, token: one).user.objectScope != nil)
        let two = try await world.createToken("two", role: "admin", organizations: ["acme", "other"], token: admin)
            .token
        #expect(try world.call(list, token: two, organization: "other").user.organization.name == "other")
        for (token, organization) in [(one, "other"), (one, "system"), (two, nil), (two, "third")] {
            let error = await refusal { _ = try world.call(list, token: token, organization: organization) }
            #expect(error?.status == .permissionDenied, "\(organization ?? "none")")
        }
        let home = try await world.createToken("home", role: "admin", organizations: ["system"], token: admin).token
        #expect(try world.call(list, token: home).user.objectScope == 1)
        let unknown = await refusal {
            _ = try await world.createToken("x", role: "admin", organizations: ["nowhere"], token: admin)
        }
        #expect(unknown?.status == .notFound)
        let boss = try await world.login("boss", organization: "acme", password: "long enough").accessToken
        let foreign = await refusal {
            _ = try await world.createToken("x", role: "admin", organizations: ["other"], token: boss)
        }
        #expect(foreign?.detail == .invalidArgument)
    }

    @Test func tokenOfADeletedOrganizationStaysLimited() async throws {
        let world = try await TestAccounts()
        let admin = try await world.login().accessToken
        _ = try await world.createOrganization("acme", token: admin)
        let token = try await world.createToken("ci", role: "admin", organizations: ["acme"], token: admin).token
        _ = try await world.adminService.deleteOrganization(
            DeleteOrganizationRequest(organization: "acme"),
            context: world.call(AdminAuthServiceMethods.deleteOrganization, token: admin))
        let error = await refusal { _ = try world.call(DataGatewayObjectServiceMethods.listObjects, token: token) }
        #expect(error?.status == .permissionDenied)
        #expect(try await list(token: admin, in: world).first?.organizations == ["#2"])
    }

    @Test func revokedAndExpiredTokensAreRefusedAtTheNextCall() async throws {
        let world = try await TestAccounts()
        let admin = try await world.login().accessToken
        let created = try await world.createToken("ci", role: "viewer", lifetime: 100, token: admin)
        let other = try await world.createToken("other", role: "viewer", lifetime: 100, token: admin)
        let method = DataGatewayObjectServiceMethods.listObjects
        _ = try world.call(method, token: created.token)
        let id = try #require(created.apiToken?.tokenID)
        #expect(await revoke(id, token: admin, in: world) == nil)
        #expect(try world.audit().last == "user:system/admin system RevokeApiToken apiTokens/\(id) OK 1")
        #expect(await refusal { _ = try world.call(method, token: created.token) }?.detail == .unauthenticated)
        #expect(await revoke(id, token: admin, in: world)?.status == .notFound)
        world.clock.advance(seconds: 99)
        _ = try world.call(method, token: other.token)
        world.clock.advance(seconds: 1)
        #expect(await refusal { _ = try world.call(method, token: other.token) }?.detail == .unauthenticated)
    }

    @Test func adminsSeeAndRevokeTheTokensOfTheirOrganization() async throws {
        let world = try await TestAccounts()
        let admin = try await world.login().accessToken
        let boss = try await world.createOrganization("acme", token: admin)
        _ = try await world.createUser("vera", role: "viewer", token: boss)
        let vera = try await world.login("vera", organization: "acme", password: "long enough").accessToken
        let id = try #require(try await world.createToken("ci", role: "viewer", token: vera).apiToken?.tokenID)
        #expect(try await list("vera", token: boss, in: world).map(\.tokenID) == [id])
        #expect(try await list(token: boss, in: world).isEmpty)
        #expect(await refusal { _ = try await list("boss", token: vera, in: world) }?.status == .permissionDenied)
        let own = try #require(try await world.createToken("own", role: "viewer", token: boss).apiToken?.tokenID)
        #expect(await revoke(own, token: vera, in: world)?.status == .notFound)
        #expect(await revoke(id, token: admin, in: world)?.status == .notFound)
        #expect(await revoke(id, token: boss, in: world) == nil)
    }

    @Test func lastUseIsRecordedAtOnceAndThenByTheMinute() async throws {
        let world = try await TestAccounts()
        let admin = try await world.login().accessToken
        let token = try await world.createToken("ci", role: "viewer", token: admin).token
        func lastUse() async throws -> (Timestamp?, String) {
            try await world.database.write { _ in }
            let found = try #require(try await list(token: admin, in: world).first)
            return (found.lastUsedAt, found.lastUsedAddress)
        }
        #expect(try await lastUse() == (nil, ""))
        let first = Timestamp(world.clock.now())
        _ = try world.call(DataGatewayObjectServiceMethods.listObjects, token: token, host: "192.0.2.1")
        #expect(try await lastUse() == (first, "192.0.2.1"))
        world.clock.advance(seconds: 59)
        _ = try world.call(DataGatewayObjectServiceMethods.listObjects, token: token, host: "192.0.2.2")
        #expect(try await lastUse() == (first, "192.0.2.1"))
        world.clock.advance(seconds: 1)
        _ = try world.call(DataGatewayObjectServiceMethods.listObjects, token: token, host: "192.0.2.3")
        world.accounts.deferred.flush(at: world.clock.now())
        #expect(try await lastUse() == (Timestamp(world.clock.now()), "192.0.2.3"))
    }

    @Test func numbersNamesAndLifetimesAreLimited() async throws {
        let world = try await TestAccounts { $0.apiTokensOfUser = 2 }
        let admin = try await world.login().accessToken
        func create(_ name: String, _ role: String = "viewer", lifetime: Int64 = 60) async -> RPCError? {
            await refusal { _ = try await world.createToken(name, role: role, lifetime: lifetime, token: admin) }
        }
        for (name, role, lifetime) in [
            ("", "viewer", 60), ("a\u{7}", "viewer", 60), ("a", "", 60), ("a", "service", 60), ("a", "member", 60),
            ("a", "viewer", 0), ("a", "viewer", 366 * 86_400 + 1),
        ] as [(String, String, Int64)] {
            #expect(
                await create(name, role, lifetime: lifetime)?.detail == .invalidArgument, "\(name) \(role) \(lifetime)")
        }
        #expect(await create("a", lifetime: 366 * 86_400) == nil)
        #expect(await create("a")?.status == .alreadyExists)
        #expect(await create("b") == nil)
        #expect(await create("c")?.status == .failedPrecondition)
    }
}
