import Platform
import Proto
import RPC
import Testing
import Wire

@testable import Accounts

@Suite struct AdminAuthServiceTests {
    @Test func sitesAreCreatedOnceByName() async throws {
        let world = try await World()
        let admin = try await world.login().accessToken
        let site = try await world.createSite("north", token: admin)
        #expect(site.siteID > 0)
        #expect((site.name, site.status) == ("north", 1))
        #expect(site.createdAt == Timestamp(world.clock.now()))
        #expect(await refusal { _ = try await world.createSite("north", token: admin) }?.status == .alreadyExists)
        for bad in ["", "a\nb", String(repeating: "x", count: 129)] {
            #expect(await refusal { _ = try await world.createSite(bad, token: admin) }?.detail == .invalidArgument)
        }
        #expect(try world.audit().filter { $0.contains("CreateSite") }.count == 1)
    }

    @Test func keysAreCheckedBeforeTheyAreMade() async throws {
        let world = try await World()
        let admin = try await world.login().accessToken
        let site = try await world.createSite(token: admin).siteID
        let past = Timestamp(world.clock.now())
        #expect(await refusal { _ = try await world.createKey(site: site + 1, token: admin) }?.status == .notFound)
        #expect(
            await refusal { _ = try await world.createKey(site: site, token: admin, status: 3) }?.detail
                == .invalidArgument)
        for bad in [past, Timestamp(seconds: .max, nanos: 0), Timestamp(seconds: 0, nanos: -1)] {
            #expect(
                await refusal { _ = try await world.createKey(site: site, token: admin, expiredAt: bad) }?.detail
                    == .invalidArgument)
        }
        #expect(try world.database.read { try $0.first("SELECT count(*) FROM api_keys") { $0.int(0) } } == 0)
    }

    @Test func noSecretIsStored() async throws {
        let world = try await World()
        let login = try await world.login()
        let site = try await world.createSite(token: login.accessToken).siteID
        let key = try await world.createKey(site: site, token: login.accessToken)
        for text in [key.credential, login.refreshToken] {
            let secret = Array(try #require(Base64.decode(text))[39...])
            for table in ["api_keys", "refresh_tokens"] {
                let found = try world.database.read { connection in
                    try connection.query("SELECT digest FROM \(table)") { $0.blob(0) }
                }
                #expect(!found.contains(secret))
            }
        }
    }

    @Test func usersAreCreatedWithARole() async throws {
        let world = try await World()
        let admin = try await world.login().accessToken
        let user = try await world.createUser("eve", role: "viewer", token: admin)
        #expect((user.organization, user.userName, user.role) == ("system", "eve", "viewer"))
        let again = await refusal { _ = try await world.createUser("eve", role: "viewer", token: admin) }
        #expect(again?.status == .alreadyExists)
        for (name, role) in [("x y", "viewer"), ("bob", "king"), ("bob", "")] {
            let error = await refusal { _ = try await world.createUser(name, role: role, token: admin) }
            #expect(error?.detail == .invalidArgument)
        }
        let listed = try await world.accounts.userAuthService.listUsers(
            ListUsersRequest(), context: world.call(UserAuthServiceMethods.listUsers, token: admin))
        #expect(listed.users.map(\.userName) == ["admin", "eve"])
    }

    @Test func whatIsNotOfferedYetSaysSo() async throws {
        let world = try await World()
        let admin = try await world.login().accessToken
        let error = await refusal {
            _ = try await world.accounts.adminAuthService.deleteSite(
                DeleteSiteRequest(siteID: 1), context: world.call(AdminAuthServiceMethods.deleteSite, token: admin))
        }
        #expect(error?.status == .unimplemented)
    }

    @Test func theAuditLogCannotBeRewritten() async throws {
        let world = try await World()
        _ = try await world.login()
        await #expect(throws: (any Error).self) {
            try await world.database.write { _ = try $0.execute("UPDATE audit SET actor = 'nobody'") }
        }
        #expect(try world.audit() == ["user:system/admin system Login users/1 OK 1"])
    }
}

@Suite struct SigningKeysTests {
    @Test func keysAreMadeOnceAndTheNewestSigns() async throws {
        let world = try await World()
        let keys = world.directory + "/keys"
        let first = try SigningKeys(directory: keys)
        #expect(try SigningKeys(directory: keys).current.id == first.current.id)
        try PrivateFile.write(ES256Key().privateKey.exposed, to: keys + "/es256-10")
        let rotated = try SigningKeys(directory: keys)
        #expect(rotated.current.id != first.current.id)
        #expect(rotated.older.map(\.id) == [first.current.id])
        try PrivateFile.write([1, 2, 3], to: keys + "/es256-11")
        #expect(throws: SigningKeyError.self) { try SigningKeys(directory: keys) }
    }
}
