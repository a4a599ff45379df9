import Basics
import Crypto
import Database
import DatabaseTesting
import Foundation
import GatewayAPI
import GatewayTesting
import Proto
import RPC
import TestSupport
import Testing
import Wire

@testable import Accounts

@Suite(.timeLimited) struct AdminAuthServiceTests {
    @Test func sitesAreCreatedOnceByName() async throws {
        let world = try await TestAccounts()
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
        let world = try await TestAccounts()
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
        #expect(try world.database.readBlocking { try $0.first("SELECT count(*) FROM api_keys") { $0.int(0) } } == 0)
    }

    @Test func noSecretIsStored() async throws {
        let world = try await TestAccounts()
        let login = try await world.login()
        let site = try await world.createSite(token: login.accessToken).siteID
        let key = try await world.createKey(site: site, token: login.accessToken)
        for text in [key.credential, login.refreshToken] {
            let secret = Array(try #require(Base64.decode(text))[39...])
            for table in ["api_keys", "refresh_tokens"] {
                let found = try world.database.readBlocking { connection in
                    try connection.query("SELECT digest FROM \(table)") { $0.blob(0) }
                }
                #expect(!found.contains(secret))
            }
        }
    }

    @Test func usersAreCreatedWithARole() async throws {
        let world = try await TestAccounts()
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
        #expect(listed.nextPageToken.isEmpty)
    }

    @Test func usersAreListedInPages() async throws {
        let world = try await TestAccounts()
        let admin = try await world.login().accessToken
        for name in ["ada", "eve", "grace"] {
            _ = try await world.createUser(name, role: "viewer", token: admin)
        }
        let other = try await world.createOrganization("acme", token: admin)
        func list(_ size: Int32, _ page: String = "", token: String? = nil) async throws -> ListUsersResponse {
            try await world.accounts.userAuthService.listUsers(
                ListUsersRequest(pageSize: size, pageToken: page),
                context: world.call(UserAuthServiceMethods.listUsers, token: token ?? admin))
        }
        let first = try await list(3)
        #expect(first.users.map(\.userName) == ["admin", "ada", "eve"])
        let last = try await list(3, first.nextPageToken)
        #expect(last.users.map(\.userName) == ["grace"])
        #expect(last.nextPageToken.isEmpty)
        #expect(try await list(4).nextPageToken.isEmpty)
        // A token is for the list of one caller.
        #expect(await refusal { _ = try await list(3, first.nextPageToken, token: other) }?.detail == .invalidArgument)
        #expect(await refusal { _ = try await list(-1) }?.detail == .invalidArgument)
    }

    @Test func sitesAreRenamedAndDeletedWhenNothingIsTheirs() async throws {
        let world = try await TestAccounts()
        let admin = try await world.login().accessToken
        let north = try await world.createSite("north", token: admin).siteID
        _ = try await world.createSite("south", token: admin)
        func update(_ request: UpdateSiteRequest) async throws -> Site? {
            try await world.adminService.updateSite(
                request, context: world.call(AdminAuthServiceMethods.updateSite, token: admin)
            ).site
        }
        func delete(_ id: Int64) async throws {
            _ = try await world.adminService.deleteSite(
                DeleteSiteRequest(siteID: id), context: world.call(AdminAuthServiceMethods.deleteSite, token: admin))
        }
        let renamed = try await update(UpdateSiteRequest(siteID: north, name: "arctic"))
        #expect((renamed?.name, renamed?.status) == ("arctic", 1))
        let disabled = try await update(UpdateSiteRequest(siteID: north, status: 2))
        #expect((disabled?.name, disabled?.status) == ("arctic", 2))
        #expect(
            await refusal { _ = try await update(UpdateSiteRequest(siteID: north, name: "south")) }?.status
                == .alreadyExists)
        for bad in [UpdateSiteRequest(siteID: north, name: ""), UpdateSiteRequest(siteID: north, status: 0)] {
            #expect(await refusal { _ = try await update(bad) }?.detail == .invalidArgument)
        }
        #expect(await refusal { _ = try await update(UpdateSiteRequest(siteID: 99)) }?.status == .notFound)

        let key = try await world.createKey(site: north, token: admin).apiKey?.apiKeyID ?? ""
        let held = await refusal { try await delete(north) }
        #expect(held?.status == .failedPrecondition)
        #expect(held?.message.contains(key) == true)
        _ = try await world.adminService.deleteApiKey(
            DeleteApiKeyRequest(apiKeyID: key), context: world.call(AdminAuthServiceMethods.deleteApiKey, token: admin))
        try await delete(north)
        #expect(await refusal { try await delete(north) }?.status == .notFound)
    }

    @Test func organizationsGoWhenNothingIsTheirs() async throws {
        let world = try await TestAccounts()
        let system = try await world.login().accessToken
        let boss = try await world.createOrganization("acme", token: system)
        let service = world.adminService
        func delete(_ name: String) async throws {
            _ = try await service.deleteOrganization(
                DeleteOrganizationRequest(organization: name),
                context: world.call(AdminAuthServiceMethods.deleteOrganization, token: system))
        }
        let renamed = try await service.updateOrganization(
            UpdateOrganizationRequest(organization: "acme", displayName: "Acme Ltd"),
            context: world.call(AdminAuthServiceMethods.updateOrganization, token: system))
        #expect(renamed.organization?.displayName == "Acme Ltd")
        #expect(await refusal { try await delete("system") }?.status == .failedPrecondition)
        #expect(await refusal { try await delete("nowhere") }?.status == .notFound)
        let site = try await world.createSite(token: boss).siteID
        #expect(await refusal { try await delete("acme") }?.status == .failedPrecondition)
        _ = try await service.deleteSite(
            DeleteSiteRequest(siteID: site), context: world.call(AdminAuthServiceMethods.deleteSite, token: boss))
        _ = try await world.createUser("eve", role: "viewer", token: boss)
        #expect(await refusal { try await delete("acme") }?.message.contains("eve") == true)
        _ = try await world.accounts.userAuthService.deleteUser(
            DeleteUserRequest(userName: "eve"), context: world.call(UserAuthServiceMethods.deleteUser, token: boss))
        try await delete("acme")
        #expect(await refusal { _ = try world.call(AdminAuthServiceMethods.listSites, token: boss) } != nil)
    }

    @Test func theAuditLogCannotBeRewritten() async throws {
        let world = try await TestAccounts()
        _ = try await world.login()
        let copy = "SELECT id, at, 'nobody', organization, action, target, peer, result FROM audit"
        let columns = "INTO audit (id, at, actor, organization, action, target, peer, result)"
        let replacement = DatabaseEngine.choose(
            sqlite: "INSERT OR REPLACE \(columns) \(copy)",
            postgres: "INSERT \(columns) \(copy) ON CONFLICT (id) DO UPDATE SET actor = excluded.actor")
        for change in ["UPDATE audit SET actor = 'nobody'", "DELETE FROM audit", replacement] {
            await #expect(throws: DatabaseError.constraint(.other, message: "the audit log is append-only")) {
                try await world.database.write { _ = try $0.execute(change) }
            }
        }
        #expect(try world.audit() == ["user:system/admin system Login users/1 OK 1"])
    }
}

@Suite(.timeLimited) struct APIKeyTests {
    private typealias Methods = AdminAuthServiceMethods

    @Test func aRotatedSecretReplacesTheOldOne() async throws {
        let world = try await TestAccounts()
        let admin = try await world.login().accessToken
        let site = try await world.createSite(token: admin).siteID
        let old = try await world.createKey(site: site, token: admin)
        let id = old.apiKey?.apiKeyID ?? ""
        let token = try await world.exchange(old.credential).accessToken
        let rotated = try await world.adminService.rotateApiKeySecret(
            RotateApiKeySecretRequest(apiKeyID: id), context: world.call(Methods.rotateApiKeySecret, token: admin))
        #expect(rotated.apiKey?.apiKeyID == id)
        let upload = DataGatewayServiceMethods.createLogicalUpload
        #expect(await refusal { _ = try world.call(upload, token: token) }?.detail == .unauthenticated)
        #expect(await refusal { _ = try await world.exchange(old.credential) }?.detail == .authInvalidCredential)
        _ = try world.call(upload, token: try await world.exchange(rotated.credential).accessToken)
    }

    @Test func anUpdateChangesWhatItNames() async throws {
        let world = try await TestAccounts()
        let admin = try await world.login().accessToken
        let site = try await world.createSite(token: admin).siteID
        let end = Timestamp(world.clock.now().adding(seconds: 100))
        let key = try await world.createKey(site: site, token: admin, expiredAt: end)
        let id = key.apiKey?.apiKeyID ?? ""
        func update(_ request: UpdateApiKeyRequest) async throws -> ApiKey? {
            try await world.adminService.updateApiKey(
                request, context: world.call(Methods.updateApiKey, token: admin)
            ).apiKey
        }
        let renamed = try await update(UpdateApiKeyRequest(apiKeyID: id, keyName: "dock"))
        #expect((renamed?.keyName, renamed?.status, renamed?.expiredAt) == ("dock", 1, end))
        #expect(try await update(UpdateApiKeyRequest(apiKeyID: id, clearExpiredAt: true))?.expiredAt == nil)
        world.clock.advance(seconds: 200)
        _ = try await world.exchange(key.credential)
        #expect(try await update(UpdateApiKeyRequest(apiKeyID: id, status: 2))?.status == 2)
        #expect(await refusal { _ = try await world.exchange(key.credential) }?.detail == .authKeyDisabled)
        for bad in [
            UpdateApiKeyRequest(apiKeyID: id, expiredAt: end), UpdateApiKeyRequest(apiKeyID: id, keyName: ""),
            UpdateApiKeyRequest(
                apiKeyID: id, expiredAt: Timestamp(world.clock.now().adding(seconds: 9)), clearExpiredAt: true),
        ] {
            #expect(await refusal { _ = try await update(bad) }?.detail == .invalidArgument)
        }
    }

    @Test func deviceKeysAreMadeByTheirMode() async throws {
        let world = try await TestAccounts()
        let admin = try await world.login().accessToken
        let site = try await world.createSite(token: admin).siteID
        func create(
            _ mode: DeviceApiKeyMutationMode, device: String = OneDevice.id
        ) async throws -> CreateOrRotateDeviceApiKeyResponse {
            try await world.adminService.createOrRotateDeviceApiKey(
                CreateOrRotateDeviceApiKeyRequest(deviceID: device, mutationMode: mode),
                context: world.call(Methods.createOrRotateDeviceApiKey, token: admin))
        }
        #expect(await refusal { _ = try await create(.unspecified, device: "260427-000002") }?.status == .notFound)
        #expect(await refusal { _ = try await create(.unrecognized(7)) }?.detail == .invalidArgument)
        #expect(await refusal { _ = try await create(.rotateOnly) }?.status == .notFound)
        let first = try await create(.createOnly)
        #expect(await refusal { _ = try await create(.createOnly) }?.status == .alreadyExists)
        let second = try await create(.rotateOnly)
        #expect(await refusal { _ = try await world.exchange(first.credential) } != nil)
        let third = try await create(.unspecified)
        #expect(await refusal { _ = try await world.exchange(second.credential) } != nil)
        #expect(try await !world.exchange(third.credential).accessToken.isEmpty)
        let principal = third.apiKey?.principal
        #expect((principal?.deviceID, principal?.siteID, principal?.ownerKind) == (OneDevice.id, site, .device))

        _ = try await world.createKey(site: site, token: admin)
        func list(_ request: ListApiKeysRequest) async throws -> [ApiKeyOwnerKind?] {
            try await world.adminService.listApiKeys(
                request, context: world.call(Methods.listApiKeys, token: admin)
            ).apiKeys.map(\.principal?.ownerKind)
        }
        #expect(try await list(ListApiKeysRequest()) == [.device, .site])
        #expect(try await list(ListApiKeysRequest(ownerKind: .site)) == [.site])
        #expect(try await list(ListApiKeysRequest(deviceID: OneDevice.id)) == [.device])
        #expect(try await list(ListApiKeysRequest(siteID: site + 1)) == [])
    }
}

@Suite(.timeLimited) struct UserTests {
    private typealias Methods = UserAuthServiceMethods

    @Test func aNewPasswordEndsSessionsAndTokens() async throws {
        let world = try await TestAccounts()
        let admin = try await world.login().accessToken
        _ = try await world.createUser("eve", role: "viewer", token: admin)
        let session = try await world.login("eve", password: "long enough")
        let objects = DataGatewayObjectServiceMethods.listObjects
        _ = try world.call(objects, token: session.accessToken)
        _ = try await world.accounts.userAuthService.updateUser(
            UpdateUserRequest(userName: "eve", password: "another one"),
            context: world.call(Methods.updateUser, token: admin))
        #expect(await refusal { _ = try world.call(objects, token: session.accessToken) }?.detail == .unauthenticated)
        #expect(await refusal { _ = try await world.refresh(session.refreshToken) } != nil)
        #expect(await refusal { _ = try await world.login("eve", password: "long enough") } != nil)
        _ = try await world.login("eve", password: "another one")
    }

    @Test func theLastAdminStays() async throws {
        let world = try await TestAccounts()
        let admin = try await world.login().accessToken
        let service = world.accounts.userAuthService
        func demote(_ name: String, by token: String) async throws -> User? {
            try await service.updateUser(
                UpdateUserRequest(userName: name, role: "viewer"), context: world.call(Methods.updateUser, token: token)
            ).user
        }
        func delete(_ name: String, by token: String) async throws {
            _ = try await service.deleteUser(
                DeleteUserRequest(userName: name), context: world.call(Methods.deleteUser, token: token))
        }
        #expect(await refusal { _ = try await demote("admin", by: admin) }?.status == .failedPrecondition)
        #expect(await refusal { try await delete("admin", by: admin) }?.status == .failedPrecondition)
        _ = try await world.createUser("second", role: "admin", token: admin)
        let second = try await world.login("second", password: "long enough").accessToken
        #expect(try await demote("admin", by: second)?.role == "viewer")
        let error = await refusal { _ = try world.call(Methods.listUsers, token: admin) }
        #expect(error?.detail == .unauthenticated)
        try await delete("admin", by: second)
        #expect(await refusal { try await delete("admin", by: second) }?.status == .notFound)
        #expect(await refusal { try await delete("second", by: second) }?.status == .failedPrecondition)
    }

    @Test func adminsWhoDeleteEachOtherAtOnceLeaveOne() async throws {
        let world = try await TestAccounts()
        let root = try await world.login().accessToken
        _ = try await world.createOrganization("acme", token: root)
        for round in 0..<5 {
            let boss = try await world.login("boss", organization: "acme", password: "long enough").accessToken
            let name = "admin-\(round)"
            _ = try await world.createUser(name, role: "admin", token: boss)
            let other = try await world.login(name, organization: "acme", password: "long enough").accessToken
            // Both calls are admitted before either has an effect.
            let contexts = try [(boss, name), (other, "boss")].map { token, name in
                (try world.call(UserAuthServiceMethods.deleteUser, token: token), name)
            }
            // No deletion is written before both calls have read what they want to read.
            let gate = DispatchSemaphore(value: 0)
            async let isOpen: Void = world.database.write { _ in try gate.waitForSignal() }
            let failures = await withTaskGroup(of: RPCError?.self) { group in
                for (context, name) in contexts {
                    group.addTask {
                        await refusal {
                            _ = try await world.accounts.userAuthService.deleteUser(
                                DeleteUserRequest(userName: name), context: context)
                        }
                    }
                }
                for _ in 0..<20 { _ = try? await world.database.read { _ in } }
                gate.signal()
                return await group.reduce(into: []) { $0.append($1) }
            }
            try await isOpen
            #expect(failures.count { $0?.status == .failedPrecondition } == 1)
            let left = try await world.accounts.userAuthService.listUsers(
                ListUsersRequest(),
                context: try world.call(UserAuthServiceMethods.listUsers, token: root, organization: "acme"))
            #expect(left.users.count == 1)
            if left.users.first?.userName != "boss" {
                _ = try await world.createUser("boss", role: "admin", token: other)
                _ = try await world.accounts.userAuthService.deleteUser(
                    DeleteUserRequest(userName: name),
                    context: try world.call(UserAuthServiceMethods.deleteUser, token: other))
            }
        }
    }
}

@Suite(.timeLimited) struct SigningKeysTests {
    private func read(_ world: TestAccounts) throws -> [SigningKey] {
        let store = SigningKeyStore(world.environment.keyring, lifetime: .seconds(900))
        let files = SigningKeyFiles(path: world.directory + "/keys")
        return try store.open(world.database, importing: files, world.clockGuard.permit()).all
    }

    @Test func keyIsMadeOnceAndIsSealed() async throws {
        let world = try await TestAccounts()
        let (first, second) = (try read(world), try read(world))
        #expect(first.count == 1 && first.map(\.id) == second.map(\.id))
        let sealed = try world.database.readBlocking { try SigningKeyRecords($0).all().map(\.sealed) }
        #expect(sealed.count == 1 && ES256Key(pkcs8: sealed[0]) == nil)
        _ = try world.database.writeBlocking { try $0.execute("UPDATE signing_keys SET number = 2") }
        #expect(throws: SigningKeyError.self) { try read(world) }
    }

    @Test func filesOfAnEarlierVersionBecomeRows() async throws {
        let world = try await TestAccounts()
        let keys = world.directory + "/keys"
        let token = try await world.login().accessToken
        _ = try world.database.writeBlocking { try $0.execute("DELETE FROM signing_keys") }
        let pairs = [ES256Key(), ES256Key()]
        let rotated = world.clock.now()
        try PrivateFile.write(pairs[0].privateKey.exposed, to: keys + "/es256-1")
        try PrivateFile.write(pairs[1].privateKey.exposed, to: "\(keys)/es256-2-\(rotated.seconds)")
        try PrivateFile.write([1], to: keys + "/next-00")
        let imported = try read(world)
        #expect(imported.map(\.id) == pairs.map { SigningKey($0).id })
        let end = UnixTime(seconds: rotated.seconds).adding(.seconds(900) + SigningKeyStore.leeway)
        #expect(imported.map(\.endsAt) == [end, nil])
        #expect(try FileManager.default.contentsOfDirectory(atPath: keys) == ["root"])
        #expect(try read(world).map(\.id) == imported.map(\.id))
        #expect(TokenSigner(keys: SigningKeys(imported)).verify(token, at: rotated) == nil)
        // Files of an earlier version that was started afterwards sign nothing.
        try PrivateFile.write(ES256Key().privateKey.exposed, to: keys + "/es256-11")
        #expect(try read(world).map(\.id) == imported.map(\.id))
        #expect(try FileManager.default.contentsOfDirectory(atPath: keys) == ["root"])
        _ = try world.database.writeBlocking { try $0.execute("DELETE FROM signing_keys") }
        try PrivateFile.write([1, 2, 3], to: keys + "/es256-1")
        #expect(throws: SigningKeyFiles.Unreadable.self) { try read(world) }
    }

    @Test func startThatEndedBeforeTheFilesWereRemovedIsRepeated() async throws {
        let world = try await TestAccounts()
        let keys = world.directory + "/keys"
        let present = try read(world).map(\.id)
        // The rows are there, and one of the files is left.
        try PrivateFile.write(ES256Key().privateKey.exposed, to: keys + "/es256-1")
        #expect(try read(world).map(\.id) == present)
        #expect(try FileManager.default.contentsOfDirectory(atPath: keys) == ["root"])
    }

    @Test func keyOfALaterTimeIsPublishedAndDoesNotSignYet() throws {
        let now = UnixTime(seconds: 1_800_000_000)
        let keys = SigningKeys([SigningKey(ES256Key()), SigningKey(ES256Key(), signsFrom: now.adding(seconds: 120))])
        let signer = TokenSigner(keys: keys)
        #expect(keys.all.allSatisfy { signer.publicKeys(at: now).contains($0.id) })
        #expect([119, 120].map { keys.signing(at: now.adding(seconds: $0)).id } == keys.all.map(\.id))
    }

    @Test func anOlderKeyVerifiesAndIsPublishedUntilItsTokensHaveEnded() async throws {
        let world = try await TestAccounts()
        let operation = IdentityManagementServiceMethods.rotateSigningKey
        let old = try await world.login().accessToken
        let before = world.accounts.publicKeys
        let reply = try await world.accounts.identityManagementService.rotateSigningKey(
            RotateSigningKeyRequest(), context: world.call(operation, token: old))
        #expect(reply.olderKeyIDs.count == 1)
        #expect(try world.audit().last == "user:system/admin system RotateSigningKey signingKeys/\(reply.keyID) OK 1")
        #expect(before.contains(reply.olderKeyIDs[0]) && !before.contains(reply.keyID))

        let new = try await world.login().accessToken
        for token in [old, new] { _ = try world.call(UserAuthServiceMethods.listUsers, token: token) }
        let through = world.accounts.publicKeys
        #expect(through.contains(reply.olderKeyIDs[0]) && through.contains(reply.keyID))
        // A restart finds the keys of the rotation.
        #expect(try read(world).map(\.id) == reply.olderKeyIDs + [reply.keyID])

        world.clock.advance(seconds: 900 + SigningKeyStore.leeway.wholeSeconds - 1)
        #expect(world.accounts.publicKeys == through)
        world.clock.advance(seconds: 1)
        let after = world.accounts.publicKeys
        #expect(!after.contains(reply.olderKeyIDs[0]) && after.contains(reply.keyID))
        #expect(try read(world).map(\.id) == [reply.keyID])
        #expect(try world.database.readBlocking { try SigningKeyRecords($0).all() }.count == 1)
    }

    @Test func anEndedKeyVerifiesNothing() {
        let now = UnixTime(seconds: 1_800_000_000)
        let key = ES256Key()
        let token = AccessToken(kind: .user, subject: "7", epoch: 3, expiresAt: now.adding(seconds: 900))
        let text = TokenSigner(keys: SigningKeys([SigningKey(key)])).issue(token, at: now)
        let ended = SigningKeys([
            SigningKey(key, endsAt: now.adding(seconds: 60)), SigningKey(ES256Key()),
        ])
        let signer = TokenSigner(keys: ended)
        #expect(signer.verify(text, at: now.adding(seconds: 59)) == token)
        #expect(signer.verify(text, at: now.adding(seconds: 60)) == nil)
        #expect(!signer.publicKeys(at: now.adding(seconds: 60)).contains(ended.all[0].id))
    }
}
