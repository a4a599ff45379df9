import Accounts
import Backup
import Basics
package import Capability
import Catalog
import Configuration
import Console
import CopyJobs
package import Database
import DeviceInit
import Identity
import ObjectStore
import Observability
import Proto
import RPC
import Uploads
import Webhooks

/// The tables of the capabilities and the callers for their methods, which are known before the capabilities are made.
extension GatewayModules {
    /// The capabilities of the gateway, in the order of their tables: those that others refer to are first.
    private static let kinds: [any Capability.Type] = [
        Accounts.self, AccountManagement.self, DeviceInit.self, StoreCapability.self, Catalog.self, Uploads.self,
        Webhooks.self, CopyJobs.self, ClockKeeper.self, Backups.self, ConsoleSessions.self, Identity.self,
        InternalStorageService.self, SystemService.self,
    ]

    private static let ownMigrations = kinds.flatMap { $0.migrations }

    /// The tables of the gateway, and the dormant ones of apps: a database may have them.
    package static let migrations = ownMigrations + AppsConfiguration().migrations

    /// The callers for the methods of the gateway's own services.
    package static let access = kinds.reduce(
        AccessTable([
            (.anyone, [HealthMethods.check, HealthMethods.list, HealthMethods.watch]),
            (.anyone, [ServerReflectionMethods.serverReflectionInfo]),
            (.anyone, [V1AlphaServerReflectionMethods.serverReflectionInfo]),
        ])
    ) { $0.adding($1.access) }

    /// Opens the database with the tables of all capabilities and of the enabled apps.
    static func openDatabase(
        _ path: String, _ configuration: Configuration, _ serving: ServingState, _ log: Logger
    ) throws -> Database {
        var options = Database.Options()
        options.onWriterEnded = { error in
            log.write("the database accepts no more writes: restart to recover", ["error": "\(error)"], level: .error)
            serving.stopServing()
        }
        options.reserveBytes = configuration.reserveBytes
        options.reserveMargin = configuration.storage.minimumFreeBytesForBodies
        options.onReserveChange = { isHeld in
            if isHeld { return log.write("the disk has free space again", ["consequence": "all calls are served"]) }
            log.write(
                "the disk is full: the gateway released its reserve",
                [
                    "consequence": "only deletions, sign-ins, downloads and sweeps are served",
                    "hint": "delete objects, or enlarge the disk",
                ], level: .warning)
        }
        options.onLogChange = { change in log.write(change, path: path) }
        return try Database(path: path, migrations: ownMigrations + configuration.apps.migrations, options: options)
    }
}
