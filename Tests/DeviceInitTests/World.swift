import Accounts
import Basics
import Crypto
import Database
import Foundation
import GatewayAPI
import HTTPTypes
import Proto
import RPC
import Wire

@testable import DeviceInit

/// A gateway's device registry on a database of its own, with a site, a suite and an admin's token.
final class World: Sendable {
    let directory: String
    let database: Database
    let clock = ManualClock()
    let accounts: Accounts
    let devices: DeviceInit
    let admin: String
    let site: Int64
    let suite: String

    init(_ configure: (inout DeviceInitConfiguration) -> Void = { _ in }) async throws {
        directory = FileManager.default.temporaryDirectory.appendingPathComponent("devices-\(UUID().uuidString)").path
        try FileManager.default.createDirectory(atPath: directory + "/keys", withIntermediateDirectories: true)
        database = try Database(
            path: directory + "/gateway.db", migrations: Accounts.migrations + DeviceInit.migrations)
        let keyring = try Keyring.open(directory: directory + "/keys", create: true)
        let environment = ModuleEnvironment(
            database: database, keyring: keyring, clock: clock, clockGuard: ClockGuard(clock: clock),
            identifiers: Identifiers(clock: clock))
        accounts = try Accounts(environment, keysDirectory: directory + "/keys")
        var configuration = DeviceInitConfiguration()
        configure(&configuration)
        devices = DeviceInit(environment, accounts: accounts, configuration: configuration)
        try await accounts.createFirstAdmin(password: Secret("correct horse"), keep: { _ in })
        admin = try await accounts.authService.login(
            LoginRequest(organization: "system", userName: "admin", password: "correct horse"),
            context: CallContext(method: AuthServiceMethods.login)
        ).accessToken
        (site, suite) = try await Self.createPlace("north", accounts, devices, token: admin)
    }

    deinit {
        try? FileManager.default.removeItem(atPath: directory)
    }

    private static func createPlace(
        _ name: String, _ accounts: Accounts, _ devices: DeviceInit, token: String
    ) async throws -> (site: Int64, suite: String) {
        let site = try await accounts.adminAuthService(devices: devices.directory).createSite(
            CreateSiteRequest(name: name), context: call(AdminAuthServiceMethods.createSite, accounts, token: token))
        let id = site.site?.siteID ?? 0
        let suite = try await devices.managementService.createDeviceSuite(
            CreateDeviceSuiteRequest(siteID: id, displayName: name),
            context: call(DeviceManagementServiceMethods.createDeviceSuite, accounts, token: token))
        return (id, suite.name)
    }

    var adminService: AdminAuthService { accounts.adminAuthService(devices: devices.directory) }

    func createPlace(_ name: String, token: String) async throws -> (site: Int64, suite: String) {
        try await Self.createPlace(name, accounts, devices, token: token)
    }

    private static func call(
        _ method: MethodDescriptor, _ accounts: Accounts, token: String?, host: String = "192.0.2.7"
    ) throws -> CallContext {
        var metadata = Metadata()
        if let token { metadata.append(name: "authorization", value: "Bearer \(token)") }
        let context = CallContext(method: method, metadata: metadata, peer: PeerAddress(host: host, port: 40_000))
        try accounts.authenticator.admit(context)
        return context
    }

    /// A call of an operator as it reaches a handler.
    func call(_ method: MethodDescriptor, token: String? = nil) throws -> CallContext {
        try Self.call(method, accounts, token: token ?? admin)
    }

    /// Makes an organization and logs its admin in.
    func createOrganization(_ name: String) async throws -> String {
        _ = try await adminService.createOrganization(
            CreateOrganizationRequest(
                organization: name, bootstrapAdminUserName: "boss", bootstrapAdminPassword: "long enough"),
            context: call(AdminAuthServiceMethods.createOrganization))
        return try await accounts.authService.login(
            LoginRequest(organization: name, userName: "boss", password: "long enough"),
            context: CallContext(method: AuthServiceMethods.login)
        ).accessToken
    }

    @discardableResult
    func register(
        _ id: String = "", suite: String? = nil, tags: [String: String] = [:], token: String? = nil
    ) async throws -> Device {
        try await devices.managementService.registerDevice(
            RegisterDeviceRequest(deviceID: id, displayName: "robot", suite: suite ?? self.suite, tags: tags),
            context: call(DeviceManagementServiceMethods.registerDevice, token: token))
    }

    func initialize(_ id: String, host: String = "203.0.113.9") async throws -> InitDeviceResponse {
        try await devices.initService.initDevice(
            InitDeviceRequest(deviceID: id, sdkVersion: "1.2.3", platform: "linux/arm64"),
            context: Self.call(DeviceInitServiceMethods.initDevice, accounts, token: nil, host: host))
    }

    func reinitialize(_ id: String, host: String = "203.0.113.9") async throws -> InitDeviceResponse {
        try await devices.initService.reinitDevice(
            ReinitDeviceRequest(deviceID: id, sdkVersion: "1.2.4", platform: "linux/arm64"),
            context: Self.call(DeviceInitServiceMethods.reinitDevice, accounts, token: nil, host: host))
    }

    func exchange(_ credential: String, host: String = "203.0.113.9") async throws -> ExchangeCredentialResponse {
        try await accounts.authService.exchangeCredential(
            ExchangeCredentialRequest(credential: credential),
            context: CallContext(
                method: AuthServiceMethods.exchangeCredential, peer: PeerAddress(host: host, port: 40_000)))
    }

    /// What a device's token opens.
    func upload(_ token: String) throws -> DevicePrincipal? {
        let context = try call(DataGatewayServiceMethods.createLogicalUpload, token: token)
        guard case .device(let device) = try context.keyOwner else { return nil }
        return device
    }

    func device(_ id: String, token: String? = nil) async throws -> Device {
        try await devices.managementService.getDevice(
            GetDeviceRequest(name: "devices/\(id)"),
            context: call(DeviceManagementServiceMethods.getDevice, token: token))
    }

    @discardableResult
    func disable(_ id: String) async throws -> Device {
        try await devices.managementService.disableDevice(
            DisableDeviceRequest(name: "devices/\(id)"), context: call(DeviceManagementServiceMethods.disableDevice))
    }

    @discardableResult
    func enable(_ id: String) async throws -> Device {
        try await devices.managementService.enableDevice(
            EnableDeviceRequest(name: "devices/\(id)"), context: call(DeviceManagementServiceMethods.enableDevice))
    }

    @discardableResult
    func add(_ id: String, to suite: String) async throws -> Device {
        try await devices.managementService.addDeviceToSuite(
            AddDeviceToSuiteRequest(suite: suite, device: "devices/\(id)"),
            context: call(DeviceManagementServiceMethods.addDeviceToSuite))
    }

    @discardableResult
    func remove(_ id: String, from suite: String) async throws -> Device {
        try await devices.managementService.removeDeviceFromSuite(
            RemoveDeviceFromSuiteRequest(suite: suite, device: "devices/\(id)"),
            context: call(DeviceManagementServiceMethods.removeDeviceFromSuite))
    }

    func setSite(enabled: Bool) async throws {
        if enabled {
            _ = try await adminService.enableSite(
                EnableSiteRequest(siteID: site), context: call(AdminAuthServiceMethods.enableSite))
        } else {
            _ = try await adminService.disableSite(
                DisableSiteRequest(siteID: site), context: call(AdminAuthServiceMethods.disableSite))
        }
    }

    func audit() throws -> [String] {
        try database.readBlocking { connection in
            try connection.query("SELECT actor, action, target, peer, result, count FROM audit ORDER BY id") { row in
                (0..<5).map { row.text($0) }.joined(separator: " ") + " \(row.int(5))"
            }
        }
    }
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
