import Accounts
import GatewayTesting
import Proto
import RPC
import TestSupport
import Testing
import Wire

@testable import Identity

/// People and workloads of providers may call what others with their role may, and nothing else.
@Suite(.timeLimited) struct IdentityAccessTests {
    private static let methods: [MethodDescriptor] = [
        AuthServiceMethods.all, SystemAuthServiceMethods.all, AdminAuthServiceMethods.all, UserAuthServiceMethods.all,
        SessionServiceMethods.all, AccountServiceMethods.all, ApiTokenServiceMethods.all, IdentityServiceMethods.all,
        IdentityManagementServiceMethods.all, InvitationServiceMethods.all, InvitationManagementServiceMethods.all,
        AuditServiceMethods.all, DataGatewayServiceMethods.all,
        DataGatewayObjectServiceMethods.all, DataGatewayCopyServiceMethods.all, InternalStorageServiceMethods.all,
        DeviceManagementServiceMethods.all, ObjectManagementServiceMethods.all, UploadManagementServiceMethods.all,
        BackupServiceMethods.all, ClockServiceMethods.all, EventServiceMethods.all, SystemServiceMethods.all,
    ].flatMap { $0 }

    private func open(to token: String, in world: TestAccounts) async -> Set<String> {
        var open: Set<String> = []
        for method in Self.methods {
            if await refusal({ _ = try world.call(method, token: token) }) == nil { open.insert(method.path) }
        }
        return open
    }

    @Test(arguments: ["operator", "admin"])
    func personOfAProviderOpensWhatTheirRoleOpens(_ role: String) async throws {
        let identity = try await TestIdentity()
        let boss = try await identity.world.login("boss", organization: "acme", password: "long enough").accessToken
        _ = try await identity.world.createUser("local", role: role, token: boss)
        let local = try await identity.world.login("local", organization: "acme", password: "long enough")
        let groups = ["groups": role == "admin" ? #"["admins"]"# : #"["ops"]"#]
        let person = try await identity.signIn(identity.corpToken(groups))
        #expect(person.user?.role == role)
        let expected = await open(to: local.accessToken, in: identity.world)
        #expect(await open(to: person.accessToken, in: identity.world) == expected)
        #expect(expected.contains(UserAuthServiceMethods.deleteUser.path) == (role == "admin"))
        // The provider asks for a second factor itself, if at all.
        try await identity.world.requireSecondFactor(of: "acme", true)
        #expect(await open(to: person.accessToken, in: identity.world) == expected)
        #expect(await open(to: local.accessToken, in: identity.world) != expected)
    }

    @Test func workloadOpensWhatItsServiceAccountOpens() async throws {
        let identity = try await TestIdentity()
        let admin = try await identity.world.login().accessToken
        _ = try await identity.world.createUser("uploader", role: "service", token: admin)
        let service = try await identity.world.service(token: admin).token
        let workload = try await identity.exchange(identity.workloadToken()).accessToken
        let opened = await open(to: workload, in: identity.world)
        #expect(opened == (await open(to: service, in: identity.world)))
        #expect(!opened.contains(ApiTokenServiceMethods.createApiToken.path))
    }

    @Test func personWhoLostTheirGroupsOpensNothing() async throws {
        let identity = try await TestIdentity()
        let person = try await identity.signIn(identity.corpToken())
        let open = await open(to: person.accessToken, in: identity.world)
        _ = await refusal { try await identity.signIn(identity.corpToken(["groups": "[]"])) }
        let left = await self.open(to: person.accessToken, in: identity.world)
        #expect(left.isStrictSubset(of: open))
        #expect(!left.contains(DataGatewayObjectServiceMethods.listObjects.path))
        #expect(left == (await self.open(to: "", in: identity.world)))
    }
}
