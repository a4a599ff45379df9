import Accounts
import Basics
import Crypto
import Database
import GatewayAPI
import RPC
import Webhooks

/// The device registry and the initialization of devices.
package final class DeviceInit: Sendable {
    /// The migrations, to be run after those of Accounts, whose tables they refer to.
    package static var migrations: [Migration] { DeviceSchema.migrations }

    package let initService: DeviceInitService
    package let managementService: DeviceManagementService
    /// The information about devices for the key management of Accounts.
    package var directory: any DeviceDirectory { DeviceRecordDirectory() }

    /// - Parameter uploads: ends the uploads of devices that are retired.
    package init(
        _ environment: ModuleEnvironment, accounts: Accounts, outbox: Outbox = .closed,
        uploads: any DeviceUploads = NoDeviceUploads(),
        configuration: DeviceInitConfiguration = DeviceInitConfiguration()
    ) {
        let (database, clock) = (environment.database, environment.clock)
        initService = DeviceInitService(
            initialization: Initialization(
                database: database, accounts: accounts, outbox: outbox, clock: clock, policy: configuration.reinit,
                reinitAllow: configuration.reinitAllow,
                callsOfDeviceFromAddress: Throttle(perMinute: configuration.callsOfDeviceFromAddress),
                unknownIDs: UnknownIDs(perMinute: configuration.unknownIDsOfAddress)))
        managementService = DeviceManagementService(
            registry: DeviceRegistry(
                database: database, keys: accounts.deviceKeys, clock: clock, uploads: uploads,
                reinitWindow: configuration.reinitWindow),
            addresses: accounts.addresses, pageTokens: PageTokens(keyring: environment.keyring))
    }

    /// Registers DeviceInitService.
    package func register(in router: inout Router) {
        initService.register(in: &router)
    }

    /// Registers DeviceManagementService, for the admin listener.
    package func registerManagement(in router: inout Router) {
        managementService.register(in: &router)
    }
}
