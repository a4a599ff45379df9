import Accounts
import Database
import DeviceInit
import Foundation
import Platform
import RPC

/// The capabilities, made and joined to each other over one database.
struct Rooms: Sendable {
    let database: Database
    let accounts: Accounts
    let deviceInit: DeviceInit

    init(_ configuration: Configuration, directory: DataDirectory) async throws {
        let clock = SystemClock()
        let identifiers = Identifiers(clock: clock)
        let keyring = try Keyring.open(directory: directory.keys, create: directory.isNew)
        database = try Database(path: directory.database, migrations: Accounts.migrations + DeviceInit.migrations)
        var settings = Accounts.Configuration()
        settings.accessTokenSeconds = configuration.auth.accessTokenLifetime
        accounts = try Accounts(
            database: database, keyring: keyring, keysDirectory: directory.keys, clock: clock,
            identifiers: identifiers, configuration: settings)
        var devices = DeviceInit.Configuration()
        devices.reinit = configuration.reinit
        deviceInit = DeviceInit(
            database: database, accounts: accounts, keyring: keyring, clock: clock, configuration: devices)
        let given = ProcessInfo.processInfo.environment["DATA_GATEWAY_ADMIN_PASSWORD"]
        try await accounts.createFirstAdmin(password: given.map { Secret($0) }) { password in
            try directory.writeInitialPassword(password)
        }
    }

    /// What each gRPC listener serves.
    func router(_ listener: ListenerName) -> Router {
        var router = Router()
        switch listener {
        case .auth:
            accounts.authService.register(in: &router)
            accounts.sessionService.register(in: &router)
        case .admin:
            accounts.adminAuthService.register(in: &router)
            accounts.userAuthService.register(in: &router)
            deviceInit.managementService.register(in: &router)
        case .deviceInit:
            deviceInit.initService.register(in: &router)
        case .gateway, .objectStore, .ops:
            break
        }
        return router
    }

    /// Writes what is written late only, and closes the database.
    func close() async {
        accounts.deferred.flush(at: SystemClock().now())
        database.close()
    }
}
