import Basics
import Crypto
import Database
import Foundation
import GatewayAPI
import HTTPTypes
import Proto
import RPC
import Wire

@testable import Accounts

/// A gateway's accounts on a database of their own, with `system`/`admin` there and a clock that stands still.
final class World: Sendable {
    static let adminPassword = "correct horse"

    let directory: String
    let database: Database
    let clock = ManualClock()
    let clockGuard: ClockGuard
    let accounts: Accounts

    init(
        log: Logger = .discarding, _ configure: (inout AccountsConfiguration) -> Void = { _ in }
    ) async throws {
        directory = FileManager.default.temporaryDirectory.appendingPathComponent("accounts-\(UUID().uuidString)").path
        try FileManager.default.createDirectory(atPath: directory + "/keys", withIntermediateDirectories: true)
        database = try Database(path: directory + "/gateway.db", migrations: Accounts.migrations)
        clockGuard = ClockGuard(clock: clock)
        var configuration = AccountsConfiguration()
        configure(&configuration)
        accounts = try Accounts(
            ModuleEnvironment(
                database: database, keyring: try Keyring.open(directory: directory + "/keys", create: true),
                clock: clock, clockGuard: clockGuard, identifiers: Identifiers(clock: clock),
                log: log),
            keysDirectory: directory + "/keys", configuration: configuration)
        try await accounts.createFirstAdmin(password: Secret(Self.adminPassword), keep: { _ in })
    }

    deinit {
        try? FileManager.default.removeItem(atPath: directory)
    }

    var adminService: AdminAuthService { accounts.adminAuthService(devices: OneDevice()) }

    /// A call as it reaches a handler.
    func call(
        _ method: MethodDescriptor, token: String? = nil, organization: String? = nil, host: String = "192.0.2.7"
    ) throws -> CallContext {
        var metadata = Metadata()
        if let token { metadata.append(name: "authorization", value: "Bearer \(token)") }
        if let organization { metadata.append(name: "x-organization", value: organization) }
        let context = CallContext(method: method, metadata: metadata, peer: PeerAddress(host: host, port: 40_000))
        try accounts.authenticator.admit(context)
        return context
    }

    func login(
        _ name: String = "admin", organization: String = "system", password: String = adminPassword,
        host: String = "192.0.2.7"
    ) async throws -> LoginResponse {
        try await accounts.authService.login(
            LoginRequest(organization: organization, userName: name, password: password),
            context: try call(AuthServiceMethods.login, host: host))
    }

    func refresh(_ token: String) async throws -> RefreshTokenResponse {
        try await accounts.authService.refreshToken(
            RefreshTokenRequest(refreshToken: token), context: try call(AuthServiceMethods.refreshToken))
    }

    func exchange(_ credential: String) async throws -> ExchangeCredentialResponse {
        try await accounts.authService.exchangeCredential(
            ExchangeCredentialRequest(credential: credential), context: try call(AuthServiceMethods.exchangeCredential))
    }

    func createSite(_ name: String = "north", token: String, organization: String? = nil) async throws -> Site {
        let context = try call(AdminAuthServiceMethods.createSite, token: token, organization: organization)
        let reply = try await adminService.createSite(CreateSiteRequest(name: name), context: context)
        return reply.site ?? Site()
    }

    func createKey(
        site: Int64, token: String, status: Int32 = 0, expiredAt: Timestamp? = nil
    ) async throws -> CreateSiteApiKeyResponse {
        try await adminService.createSiteApiKey(
            CreateSiteApiKeyRequest(siteID: site, keyName: "gate", status: status, expiredAt: expiredAt),
            context: try call(AdminAuthServiceMethods.createSiteApiKey, token: token))
    }

    func createUser(_ name: String, role: String, token: String, organization: String? = nil) async throws -> User {
        let context = try call(UserAuthServiceMethods.createUser, token: token, organization: organization)
        let reply = try await accounts.userAuthService.createUser(
            CreateUserRequest(userName: name, password: "long enough", role: role), context: context)
        return reply.user ?? User()
    }

    /// Makes a service account.
    func service(
        _ name: String = "robot", token: String
    ) async throws -> (token: String, credential: String) {
        _ = try await createUser(name, role: "service", token: token)
        let credential = try await issueCredential(to: name, token: token)
        return (try await exchangeSystem(credential).accessToken, credential)
    }

    func issueCredential(to name: String, token: String) async throws -> String {
        try await accounts.identityManagementService.issueSystemCredential(
            IssueSystemCredentialRequest(userName: name),
            context: try call(IdentityManagementServiceMethods.issueSystemCredential, token: token)
        ).credential
    }

    func exchangeSystem(_ credential: String) async throws -> ExchangeSystemCredentialResponse {
        try await accounts.systemAuthService.exchangeSystemCredential(
            ExchangeSystemCredentialRequest(credential: credential),
            context: try call(SystemAuthServiceMethods.exchangeSystemCredential))
    }

    /// Makes an organization with the admin `boss`, and logs them in.
    func createOrganization(_ name: String, token: String) async throws -> String {
        _ = try await adminService.createOrganization(
            CreateOrganizationRequest(
                organization: name, bootstrapAdminUserName: "boss", bootstrapAdminPassword: "long enough"),
            context: try call(AdminAuthServiceMethods.createOrganization, token: token))
        return try await login("boss", organization: name, password: "long enough").accessToken
    }

    /// Ends every token that was issued; by the same number below 0 it lets them live again.
    func raiseEpochs(by step: Int) async throws {
        try await database.write { connection in
            _ = try connection.execute("UPDATE users SET epoch = epoch + $1", step)
            _ = try connection.execute("UPDATE api_keys SET epoch = epoch + $1", step)
        }
    }

    func audit() throws -> [String] {
        try database.readBlocking { connection in
            try connection.query("SELECT actor, organization, action, target, result, count FROM audit ORDER BY id") {
                "\($0.text(0)) \($0.text(1)) \($0.text(2)) \($0.text(3)) \($0.text(4)) \($0.int(5))"
            }
        }
    }
}

/// A directory whose one device, in the organization 1, is bound to the site 1.
struct OneDevice: DeviceDirectory {
    static let id = "260427-000001"

    func device(_ id: String, organizationID: Int64, in connection: Connection) throws -> DirectoryDevice? {
        guard id == Self.id, organizationID == 1 else { return nil }
        return DirectoryDevice(
            place: DeviceKeys.Place(deviceID: id, suiteID: 1, siteID: 1, organizationID: 1), isDisabled: false)
    }

    func noteKey(of id: String, at now: UnixTime, in connection: Connection) throws {}
}

/// The refusal that `body` ends with; `nil` when it does not.
func refusal(_ body: () async throws -> Void) async -> RPCError? {
    do {
        try await body()
        return nil
    } catch {
        return error as? RPCError ?? (error as? any RPCErrorConvertible)?.rpcError
    }
}
