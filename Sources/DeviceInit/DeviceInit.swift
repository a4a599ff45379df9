import Accounts
import Database
import Events
import HTTPTypes
import Platform

/// The device registry, and how devices come to their keys.
public final class DeviceInit: Sendable {
    public struct Configuration: Sendable {
        public var reinit = ReinitPolicy.open
        /// From where ReinitDevice may be called, whatever the policy; empty = from everywhere.
        public var reinitAllow: [AddressRange] = []
        /// With the policy `window`: how long an operator's leave to replace a key holds.
        public var reinitWindowSeconds: Int64 = 15 * 60
        /// Init and reinit calls a minute for one device from one address.
        public var callsOfDeviceFromAddress = 240
        /// Distinct ids a minute that do not exist, asked for by one address, until it is told no reasons any more; with ten
        /// times as many it gets no key either.
        public var unknownIDsOfAddress = 30

        public init() {}
    }

    /// After those of Accounts, whose tables they refer to.
    public static var migrations: [Migration] { DeviceRecords.migrations }

    /// For the device-init listener.
    public let initService: DeviceInitService
    /// For the admin listener.
    public let managementService: DeviceManagementService
    /// What the key operations of Accounts ask about devices.
    public var directory: any DeviceDirectory { DeviceRecords.Directory() }

    public init(
        database: Database, accounts: Accounts, keyring: Keyring, clock: any WallClock,
        outbox: Outbox = .closed, configuration: Configuration = Configuration()
    ) {
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
            pageTokens: PageTokens(keyring: keyring))
    }
}
