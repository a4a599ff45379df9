import Accounts
import Basics
import Crypto
import Database
import GatewayAPI
import GatewayTesting
import HTTPTypes
import Proto
import RPC
import Webhooks
import Wire

@testable import DeviceInit

/// A gateway's device registry on a database of its own, with a site, a suite, an admin's token, and a webhook for the reports about
/// silent devices.
final class World: Sendable {
    private let base: TestAccounts
    let devices: DeviceInit
    let admin: String
    let site: Int64
    let suite: String
    let outbox: Outbox

    init(_ configure: (inout DeviceInitConfiguration) -> Void = { _ in }) async throws {
        base = try await TestAccounts(
            migrations: DeviceInit.migrations + Webhooks.migrations,
            access: TestAccounts.access(with: DeviceInit.access))
        var configuration = DeviceInitConfiguration()
        configure(&configuration)
        var webhooks = WebhooksConfiguration()
        webhooks.webhooks = [
            Webhook(
                name: "pager", url: "http://127.0.0.1/", keys: [Secret([0])], types: [.deviceSilent, .deviceReturned])
        ]
        outbox = Webhooks(base.environment, configuration: webhooks).outbox
        devices = DeviceInit(
            base.environment, accounts: base.accounts, outbox: outbox, configuration: configuration)
        admin = try await base.login().accessToken
        (site, suite) = try await Self.createPlace("north", base, devices, token: admin)
    }

    var database: Database { base.database }

    var clock: ManualClock { base.clock }

    var clockGuard: ClockGuard { base.clockGuard }

    var accounts: Accounts { base.accounts }

    var rows: AccountRows { base.rows }

    private static func createPlace(
        _ name: String, _ base: TestAccounts, _ devices: DeviceInit, token: String
    ) async throws -> (site: Int64, suite: String) {
        let site = try await base.createSite(name, token: token).siteID
        let suite = try await devices.managementService.createDeviceSuite(
            CreateDeviceSuiteRequest(siteID: site, displayName: name),
            context: base.call(DeviceManagementServiceMethods.createDeviceSuite, token: token))
        return (site, suite.name)
    }

    var adminService: AdminAuthService { accounts.adminAuthService(devices: devices.directory) }

    func createPlace(_ name: String, token: String) async throws -> (site: Int64, suite: String) {
        try await Self.createPlace(name, base, devices, token: token)
    }

    /// Returns an operator's call in the form that handlers receive.
    func call(_ method: MethodDescriptor, token: String? = nil) throws -> CallContext {
        try base.call(method, token: token ?? admin)
    }

    /// Logs the admin in again, whose first token may have expired.
    func login() async throws -> String { try await base.login().accessToken }

    /// Creates an organization and logs its admin in.
    func createOrganization(_ name: String) async throws -> String {
        try await base.createOrganization(name, token: admin)
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
            context: base.call(DeviceInitServiceMethods.initDevice, host: host))
    }

    func reinitialize(_ id: String, host: String = "203.0.113.9") async throws -> InitDeviceResponse {
        try await devices.initService.reinitDevice(
            ReinitDeviceRequest(deviceID: id, sdkVersion: "1.2.4", platform: "linux/arm64"),
            context: base.call(DeviceInitServiceMethods.reinitDevice, host: host))
    }

    func exchange(_ credential: String, host: String = "203.0.113.9") async throws -> ExchangeCredentialResponse {
        try await accounts.authService.exchangeCredential(
            ExchangeCredentialRequest(credential: credential),
            context: CallContext(
                method: AuthServiceMethods.exchangeCredential, peer: PeerAddress(host: host, port: 40_000)))
    }

    /// Returns the principal of a device's token.
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

    /// Returns the audit log with a text for each line: actor, action, target, peer, result, count.
    func audit() throws -> [String] {
        try rows.audit().map { "\($0.actor) \($0.action) \($0.target) \($0.peer) \($0.result) \($0.count)" }
    }
}
