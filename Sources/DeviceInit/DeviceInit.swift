package import Accounts
import Basics
import Crypto
import Database
package import GatewayAPI
import RPC
package import Webhooks

/// The device registry and the initialization of devices.
package final class DeviceInit: Sendable {
    package let initService: DeviceInitService
    package let managementService: DeviceManagementService
    let silence: SilenceReports
    /// The information about devices for the key management of Accounts.
    package var directory: any DeviceDirectory { DeviceRecordDirectory() }

    /// - Parameter uploads: ends the uploads of devices that are retired.
    package init(
        _ environment: ModuleEnvironment, accounts: Accounts, outbox: Outbox = .closed,
        uploads: any DeviceUploads = NoDeviceUploads(),
        configuration: DeviceInitConfiguration = DeviceInitConfiguration()
    ) {
        let (database, clock) = (environment.database, environment.clock)
        accounts.deferred.report(to: DeviceContactRecords())
        initService = DeviceInitService(
            initialization: Initialization(
                database: database, accounts: accounts, outbox: outbox, clock: clock, policy: configuration.reinit,
                reinitAllow: configuration.reinitAllow,
                callsOfDeviceFromAddress: Throttle(perMinute: configuration.callsOfDeviceFromAddress),
                unknownIDs: UnknownIDs(perMinute: configuration.unknownIDsOfAddress)),
            keptResponses: accounts.keptResponses)
        silence = SilenceReports(
            database: database, outbox: outbox, clock: clock,
            defaultHours: configuration.silentAfter.wholeSeconds / 3600)
        managementService = DeviceManagementService(
            registry: DeviceRegistry(
                database: database, keys: accounts.deviceKeys, clock: clock, uploads: uploads,
                reinitWindow: configuration.reinitWindow),
            diagnosis: Diagnosis(
                database: database, keys: accounts.deviceKeys, uploads: uploads, deferred: accounts.deferred,
                unprovenCalls: accounts.unprovenCalls, clock: clock),
            addresses: accounts.addresses, keptResponses: accounts.keptResponses,
            pageTokens: PageTokens(keyring: environment.keyring))
    }
}
