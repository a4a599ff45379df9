import Accounts
import Basics
import Crypto
import Database
import GatewayAPI
import HTTPTypes
import Webhooks

/// The device registry, and how devices come to their keys.
package final class DeviceInit: Sendable {
    package struct Configuration: Sendable {
        package var reinit = ReinitPolicy.open
        /// From where ReinitDevice may be called, whatever the policy; empty = from everywhere.
        package var reinitAllow: [AddressRange] = []
        /// With the policy `window`: how long an operator's leave to replace a key holds.
        package var reinitWindowSeconds: Int64 = 15 * 60
        /// Init and reinit calls a minute for one device from one address.
        package var callsOfDeviceFromAddress = 240
        /// Distinct ids a minute that do not exist, asked for by one address, until it is told no reasons any more; with ten
        /// times as many it gets no key either.
        package var unknownIDsOfAddress = 30

        package init() {}
    }

    /// After those of Accounts, whose tables they refer to.
    package static var migrations: [Migration] { DeviceRecords.migrations }

    /// For the device-init listener.
    package let initService: DeviceInitService
    /// For the admin listener.
    package let managementService: DeviceManagementService
    /// What the key operations of Accounts ask about devices.
    package var directory: any DeviceDirectory { DeviceRecords.Directory() }

    package init(
        _ environment: ModuleEnvironment, accounts: Accounts, outbox: Outbox = .closed,
        configuration: Configuration = Configuration()
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
                database: database, keys: accounts.deviceKeys, clock: clock,
                reinitWindowSeconds: configuration.reinitWindowSeconds),
            pageTokens: PageTokens(keyring: environment.keyring))
    }
}
