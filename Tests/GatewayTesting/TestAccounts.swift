package import Accounts
package import Basics
package import Capability
import Crypto
package import Database
import Foundation
package import GatewayAPI
import HTTPTypes
package import Proto
package import RPC
import TestSupport
package import Wire

/// A gateway's accounts on a database of their own, with the user `admin` of `system` and a clock that stands still.
///
/// Everything is created through the calls of operators. Tests of modules above Accounts add their migrations.
package final class TestAccounts: Sendable {
    package static let adminPassword = "correct horse"

    private let base: TestDatabase
    package let clock: ManualClock
    package let clockGuard: ClockGuard
    /// The environment for other modules.
    package let environment: ModuleEnvironment
    package let accounts: Accounts

    /// The callers for the methods of Accounts, and for one method of each kind that devices and people call elsewhere.
    package static let access = ownAccess.adding(
        AccessTable([
            (.apiKey, [uploading]), (.user(.viewer), [DataGatewayObjectServiceMethods.listObjects]),
            (.user(.operator), [DeviceManagementServiceMethods.registerDevice]),
            (.systemAdminOrCertificate, [InternalStorageServiceMethods.presignObject]),
        ]))

    /// Returns the callers for the methods of Accounts, of uploads and of another module.
    package static func access(with module: AccessTable) -> AccessTable {
        ownAccess.adding(AccessTable([(.apiKey, [uploading])])).adding(module)
    }

    private static let ownAccess = Accounts.access.adding(AccountManagement.access)
    private static let uploading = DataGatewayServiceMethods.createLogicalUpload

    /// - Parameter access: the callers for all methods.
    package init(
        migrations: [Migration] = [], access: AccessTable = TestAccounts.access, log: Logger = .discarding,
        hasReplicas: Bool = false, _ configure: (inout AccountsConfiguration) -> Void = { _ in }
    ) async throws {
        base = try TestDatabase(Accounts.migrations + migrations, inMemory: false, isShared: hasReplicas)
        let keysDirectory = base.folder.path + "/keys"
        try FileManager.default.createDirectory(atPath: keysDirectory, withIntermediateDirectories: true)
        clock = ManualClock()
        clockGuard = ClockGuard(clock: clock)
        var environment = ModuleEnvironment(
            database: base.database, keyring: try Keyring.open(keysDirectory + "/root", create: true), clock: clock,
            clockGuard: clockGuard, identifiers: Identifiers(clock: clock), log: log)
        environment.hasReplicas = hasReplicas
        self.environment = environment
        var configuration = AccountsConfiguration()
        configure(&configuration)
        accounts = try Accounts(
            environment, keysDirectory: keysDirectory,
            access: access, configuration: configuration)
        try await accounts.createFirstAdmin(password: Secret(Self.adminPassword), keep: { _ in })
    }

    /// Opens the accounts of a second gateway with the database, the root key and the clock of a first one that has replicas.
    package init(replicaOf first: TestAccounts) throws {
        (base, clock, clockGuard, environment) = (first.base, first.clock, first.clockGuard, first.environment)
        accounts = try Accounts(environment, keysDirectory: first.directory + "/keys", access: Self.access)
    }

    package var directory: String { base.folder.path }

    package var database: Database { base.database }
    package var calls: CallCounter { base.calls }

    package var rows: AccountRows { AccountRows(database) }

    package var adminService: AdminAuthService { accounts.adminAuthService(devices: OneDevice()) }

    /// Returns a call in the form that handlers receive.
    package func call(
        _ method: MethodDescriptor, token: String? = nil, organization: String? = nil, host: String = "192.0.2.7"
    ) throws -> CallContext {
        var metadata = Metadata()
        if let token { metadata.append(name: "authorization", value: "Bearer \(token)") }
        if let organization { metadata.append(name: "x-organization", value: organization) }
        let context = CallContext(method: method, metadata: metadata, peer: PeerAddress(host: host, port: 40_000))
        try inPlace { [accounts] in try await accounts.authenticator.admit(context) }
        return context
    }

    package func login(
        _ name: String = "admin", organization: String = "system", password: String = adminPassword,
        host: String = "192.0.2.7"
    ) async throws -> LoginResponse {
        try await accounts.authService.login(
            LoginRequest(organization: organization, userName: name, password: password),
            context: try call(AuthServiceMethods.login, host: host))
    }

    package func refresh(_ token: String) async throws -> RefreshTokenResponse {
        try await accounts.authService.refreshToken(
            RefreshTokenRequest(refreshToken: token), context: try call(AuthServiceMethods.refreshToken))
    }

    package func exchange(_ credential: String) async throws -> ExchangeCredentialResponse {
        try await accounts.authService.exchangeCredential(
            ExchangeCredentialRequest(credential: credential), context: try call(AuthServiceMethods.exchangeCredential))
    }

    package func createSite(_ name: String = "north", token: String, organization: String? = nil) async throws -> Site {
        let context = try call(AdminAuthServiceMethods.createSite, token: token, organization: organization)
        let reply = try await adminService.createSite(CreateSiteRequest(name: name), context: context)
        return reply.site ?? Site()
    }

    package func createKey(
        site: Int64, token: String, status: Int32 = 0, expiredAt: Timestamp? = nil
    ) async throws -> CreateSiteApiKeyResponse {
        try await adminService.createSiteApiKey(
            CreateSiteApiKeyRequest(siteID: site, keyName: "gate", status: status, expiredAt: expiredAt),
            context: try call(AdminAuthServiceMethods.createSiteApiKey, token: token))
    }

    package func createUser(
        _ name: String, role: String, token: String, organization: String? = nil
    ) async throws -> User {
        let context = try call(UserAuthServiceMethods.createUser, token: token, organization: organization)
        let reply = try await accounts.userAuthService.createUser(
            CreateUserRequest(userName: name, password: "long enough", role: role), context: context)
        return reply.user ?? User()
    }

    /// Creates a service account.
    package func service(
        _ name: String = "robot", token: String
    ) async throws -> (token: String, credential: String) {
        _ = try await createUser(name, role: "service", token: token)
        let credential = try await issueCredential(to: name, token: token)
        return (try await exchangeSystem(credential).accessToken, credential)
    }

    package func issueCredential(to name: String, token: String) async throws -> String {
        try await accounts.identityManagementService.issueSystemCredential(
            IssueSystemCredentialRequest(userName: name),
            context: try call(IdentityManagementServiceMethods.issueSystemCredential, token: token)
        ).credential
    }

    package func exchangeSystem(_ credential: String) async throws -> ExchangeSystemCredentialResponse {
        try await accounts.systemAuthService.exchangeSystemCredential(
            ExchangeSystemCredentialRequest(credential: credential),
            context: try call(SystemAuthServiceMethods.exchangeSystemCredential))
    }

    /// Creates an organization with the admin `boss`, and logs them in.
    package func createOrganization(_ name: String, token: String) async throws -> String {
        _ = try await adminService.createOrganization(
            CreateOrganizationRequest(
                organization: name, bootstrapAdminUserName: "boss", bootstrapAdminPassword: "long enough"),
            context: try call(AdminAuthServiceMethods.createOrganization, token: token))
        return try await login("boss", organization: name, password: "long enough").accessToken
    }

    /// Returns the audit log with a text for each line: actor, organization, action, target, result, count.
    package func audit() throws -> [String] {
        try rows.audit().map { line in
            "\(line.actor) \(line.organization?.name ?? "") \(line.action) \(line.target) \(line.result) \(line.count)"
        }
    }
}
