import Basics
import Database
import DatabaseTesting
import GatewayAPI
import GatewayTesting
import Proto
import RPC
import TestSupport
import Testing
import Wire

@testable import Accounts
@testable import Serve

/// The methods that are open to each principal.
@Suite(.timeLimited) struct AccessTests {
    private static let upload = DataGatewayServiceMethods.createLogicalUpload
    private static let sites = AdminAuthServiceMethods.listSites

    @Test func withoutARightTokenThereIsOneAnswer() async throws {
        let world = try await TestAccounts(access: GatewayModules.access)
        let token = try await world.login().accessToken
        func detail(_ headers: [(name: String, value: String)]) async -> DetailCode? {
            await refusal {
                let context = CallContext(method: Self.sites, metadata: Metadata(headers))
                try await world.accounts.authenticator.admit(context)
            }?.detail
        }
        #expect(await detail([]) == .unauthenticated)
        #expect(await detail([("authorization", "")]) == .unauthenticated)
        #expect(await detail([("authorization", token)]) == .unauthenticated)
        #expect(await detail([("authorization", "Basic \(token)")]) == .unauthenticated)
        #expect(await detail([("authorization", "Bearer \(token) x")]) == .unauthenticated)
        #expect(await detail([("authorization", "Bearer x\(token)")]) == .unauthenticated)
        let twice = [("authorization", "Bearer \(token)"), ("authorization", "Bearer \(token)")]
        #expect(await detail(twice.map { (name: $0.0, value: $0.1) }) == .unauthenticated)
        #expect(await detail([("authorization", "bearer \(token)")]) == nil)
        world.clock.advance(seconds: 900)
        #expect(await detail([("authorization", "Bearer \(token)")]) == .unauthenticated)
    }

    @Test func refusalByABrokenDatabaseKeepsItsCause() async throws {
        let world = try await TestAccounts(access: GatewayModules.access)
        let token = try await world.login().accessToken
        _ = try world.database.writeBlocking { try $0.execute("ALTER TABLE users RENAME TO lost") }
        let broken = await refusal { _ = try world.call(Self.sites, token: token) }
        #expect(broken?.detail == .internalError && broken?.message == "the gateway failed")
        let explanation = try #require(broken).explanation
        let cause = DatabaseEngine.choose(sqlite: "no such table", postgres: "does not exist")
        #expect(explanation.contains(cause), "\(explanation)")
        world.database.close()
        let stopping = await refusal { _ = try world.call(Self.sites, token: token) }
        #expect(stopping?.status == .unavailable && stopping?.cause as? DatabaseError == .closed)
    }

    @Test func eachKindIsRefusedAtTheOthersDoor() async throws {
        let world = try await TestAccounts(access: GatewayModules.access)
        let user = try await world.login().accessToken
        let site = try await world.createSite(token: user)
        let key = try await world.exchange(world.createKey(site: site.siteID, token: user).credential).accessToken
        #expect(await refusal { _ = try world.call(Self.upload, token: user) }?.detail == .unauthenticated)
        #expect(await refusal { _ = try world.call(Self.sites, token: key) }?.detail == .unauthenticated)
        let objects = DataGatewayObjectServiceMethods.listObjects
        #expect(await refusal { _ = try world.call(objects, token: key) }?.detail == .unauthenticated)
        let presign = InternalStorageServiceMethods.presignObject
        #expect(await refusal { _ = try world.call(presign, token: key) }?.detail == .unauthenticated)
        _ = try world.call(presign, token: user)
        _ = try world.call(objects, token: user)
    }

    @Test func aCertificateOpensInternalStorageAloneAndOnlyWhereItIsTrusted() async throws {
        let world = try await TestAccounts(access: GatewayModules.access)
        var trusting = world.accounts.authenticator
        trusting.trustsCertificates = true
        func admitted(_ method: MethodDescriptor, by door: Authenticator, _ subject: String?) async -> Principal? {
            let context = CallContext(method: method, clientCertificate: subject)
            return await refusal { try await door.admit(context) } == nil ? context.principal : nil
        }
        let presign = InternalStorageServiceMethods.presignObject
        #expect(await admitted(presign, by: trusting, "CN=worker") == .certificate(subject: "CN=worker"))
        #expect(await admitted(presign, by: trusting, nil) == nil)
        #expect(await admitted(presign, by: world.accounts.authenticator, "CN=worker") == nil)
        for method in AccessTableTests.services.joined() where method.service != presign.service {
            #expect(await admitted(method, by: trusting, "CN=worker") == nil, "\(method.path)")
        }
        // A token that is sent in addition has to be valid.
        let context = CallContext(
            method: presign, metadata: Metadata([("authorization", "Bearer x")]), clientCertificate: "CN=worker")
        #expect(await refusal { try await trusting.admit(context) }?.detail == .unauthenticated)
    }

    @Test func rolesIncludeTheOnesBelow() async throws {
        let world = try await TestAccounts(access: GatewayModules.access)
        let admin = try await world.login().accessToken
        let methods = [
            DataGatewayObjectServiceMethods.listObjects, DeviceManagementServiceMethods.registerDevice,
            UserAuthServiceMethods.createUser,
        ]
        for (role, allowed) in [("viewer", 1), ("operator", 2), ("admin", 3)] {
            _ = try await world.createUser("the-\(role)", role: role, token: admin)
            let token = try await world.login("the-\(role)", password: "long enough").accessToken
            for (index, method) in methods.enumerated() {
                let error = await refusal { _ = try world.call(method, token: token) }
                #expect(error?.status == (index < allowed ? nil : .permissionDenied), "\(role) \(method.name)")
                #expect(error?.detail == nil)
            }
        }
        let viewer = try await world.login("the-viewer", password: "long enough").accessToken
        let error = await refusal { _ = try world.call(methods[1], token: viewer) }
        #expect(error?.message == "this call requires the role operator")
    }

    @Test func organizationsAreForTheSystemsAdmins() async throws {
        let world = try await TestAccounts(access: GatewayModules.access)
        let system = try await world.login().accessToken
        let boss = try await world.createOrganization("acme", token: system)
        let error = await refusal { _ = try world.call(AdminAuthServiceMethods.listOrganizations, token: boss) }
        #expect(error?.status == .permissionDenied)
        _ = try world.call(AdminAuthServiceMethods.listOrganizations, token: system)
    }

    @Test func disabledKeysUsersAndSitesAreRefusedAtTheNextCall() async throws {
        let world = try await TestAccounts(access: GatewayModules.access)
        let admin = try await world.login().accessToken
        let site = try await world.createSite(token: admin)
        let key = try await world.createKey(site: site.siteID, token: admin)
        let keyID = key.apiKey?.apiKeyID ?? ""
        let service = world.adminService
        let before = try await world.exchange(key.credential).accessToken
        _ = try world.call(Self.upload, token: before)

        _ = try await service.disableSite(
            DisableSiteRequest(siteID: site.siteID),
            context: world.call(AdminAuthServiceMethods.disableSite, token: admin))
        #expect(await refusal { _ = try world.call(Self.upload, token: before) }?.detail == .unauthenticated)
        _ = try await service.enableSite(
            EnableSiteRequest(siteID: site.siteID),
            context: world.call(AdminAuthServiceMethods.enableSite, token: admin))
        #expect(await refusal { _ = try world.call(Self.upload, token: before) }?.detail == .unauthenticated)
        let since = try await world.exchange(key.credential).accessToken
        _ = try world.call(Self.upload, token: since)

        _ = try await service.disableApiKey(
            DisableApiKeyRequest(apiKeyID: keyID),
            context: world.call(AdminAuthServiceMethods.disableApiKey, token: admin))
        #expect(await refusal { _ = try world.call(Self.upload, token: since) }?.detail == .unauthenticated)
        _ = try await service.enableApiKey(
            EnableApiKeyRequest(apiKeyID: keyID),
            context: world.call(AdminAuthServiceMethods.enableApiKey, token: admin))
        #expect(await refusal { _ = try world.call(Self.upload, token: since) }?.detail == .unauthenticated)
        _ = try world.call(Self.upload, token: try await world.exchange(key.credential).accessToken)
    }

    @Test func refusalsBecomeOneAuditRowAMinute() async throws {
        let world = try await TestAccounts(access: GatewayModules.access)
        let admin = try await world.login().accessToken
        _ = try await world.createUser("eve", role: "viewer", token: admin)
        let viewer = try await world.login("eve", password: "long enough").accessToken
        let (_, credential) = try await world.service(token: admin)
        for _ in 0..<3 {
            _ = try await world.exchangeSystem(credential)
            for token in [viewer, "forged", nil] {
                #expect(
                    await refusal { _ = try world.call(AdminAuthServiceMethods.deleteSite, token: token) } != nil)
            }
        }
        let before = try world.audit().count
        world.clock.advance(seconds: 61)
        world.accounts.deferred.flush(at: world.clock.now())
        try await world.database.write { _ in }
        let lines = try world.audit().dropFirst(before)
        #expect(
            lines.sorted() == [
                // A caller without a token may be a probe, and is not counted.
                "nobody  DeleteSite  DATA_GATEWAY_UNAUTHENTICATED 3",
                "user:system/eve system DeleteSite  PERMISSION_DENIED 3",
                "user:system/robot system ExchangeSystemCredential users/3 OK 4",
            ])
    }

    @Test func aKeysUseIsNotedAtOnceAndThenByTheMinute() async throws {
        let world = try await TestAccounts(access: GatewayModules.access)
        let admin = try await world.login().accessToken
        let site = try await world.createSite(token: admin)
        let key = try await world.createKey(site: site.siteID, token: admin)
        func lastUsed() async throws -> Timestamp? {
            try await world.database.write { _ in }
            let reply = try await world.adminService.getApiKey(
                GetApiKeyRequest(apiKeyID: key.apiKey?.apiKeyID ?? ""),
                context: world.call(AdminAuthServiceMethods.getApiKey, token: admin))
            return reply.apiKey?.lastUsedAt
        }
        #expect(try await lastUsed() == nil)
        let first = Timestamp(world.clock.now())
        let token = try await world.exchange(key.credential).accessToken
        #expect(try await lastUsed() == first)
        world.clock.advance(seconds: 59)
        _ = try world.call(Self.upload, token: token)
        #expect(try await lastUsed() == first)
        world.clock.advance(seconds: 1)
        _ = try world.call(Self.upload, token: token)
        #expect(try await lastUsed() == Timestamp(world.clock.now()))
    }

    @Test func organizationsDoNotSeeEachOther() async throws {
        let world = try await TestAccounts(access: GatewayModules.access)
        let system = try await world.login().accessToken
        let acme = try await world.createOrganization("acme", token: system)
        let other = try await world.createOrganization("other", token: system)
        let site = try await world.createSite(token: acme)
        let key = try await world.createKey(site: site.siteID, token: acme)
        _ = try await world.createSite(token: other)
        let service = world.adminService

        for stranger in [other, system] {
            let calls: [() async throws -> Void] = [
                {
                    _ = try await service.getSite(
                        GetSiteRequest(siteID: site.siteID),
                        context: world.call(AdminAuthServiceMethods.getSite, token: stranger))
                },
                {
                    _ = try await service.disableSite(
                        DisableSiteRequest(siteID: site.siteID),
                        context: world.call(AdminAuthServiceMethods.disableSite, token: stranger))
                },
                { _ = try await world.createKey(site: site.siteID, token: stranger) },
                {
                    _ = try await service.disableApiKey(
                        DisableApiKeyRequest(apiKeyID: key.apiKey?.apiKeyID ?? ""),
                        context: world.call(AdminAuthServiceMethods.disableApiKey, token: stranger))
                },
                {
                    _ = try await world.accounts.userAuthService.getUser(
                        GetUserRequest(userName: "nobody"),
                        context: world.call(UserAuthServiceMethods.getUser, token: stranger))
                },
            ]
            for call in calls { #expect(await refusal(call)?.status == .notFound) }
        }
        let sites = try await service.listSites(
            ListSitesRequest(), context: world.call(AdminAuthServiceMethods.listSites, token: acme))
        #expect(sites.sites.map(\.siteID) == [site.siteID])
    }

    @Test func theSystemsAdminActsForAnotherByNameAndIsAuditedWithBoth() async throws {
        let world = try await TestAccounts(access: GatewayModules.access)
        let system = try await world.login().accessToken
        let acme = try await world.createOrganization("acme", token: system)
        let site = try await world.createSite("by system", token: system, organization: "acme")
        let seen = try await world.adminService.getSite(
            GetSiteRequest(siteID: site.siteID), context: world.call(AdminAuthServiceMethods.getSite, token: acme))
        #expect(seen.site?.name == "by system")
        #expect(try world.audit().last == "user:system/admin acme CreateSite sites/\(site.siteID) OK 1")

        #expect(try world.call(Self.sites, token: system).user.objectScope == nil)
        #expect(try world.call(Self.sites, token: system, organization: "acme").user.objectScope != nil)
        #expect(try world.call(Self.sites, token: acme).user.objectScope != nil)
        let unknown = await refusal { _ = try world.call(Self.sites, token: system, organization: "nowhere") }
        #expect(unknown?.status == .notFound)
        let stranger = await refusal { _ = try world.call(Self.sites, token: acme, organization: "system") }
        #expect(stranger?.status == .permissionDenied)
        _ = try await world.createUser("clerk", role: "operator", token: system)
        let clerk = try await world.login("clerk", password: "long enough").accessToken
        let denied = await refusal { _ = try world.call(Self.sites, token: clerk, organization: "acme") }
        #expect(denied?.status == .permissionDenied)
    }
}
