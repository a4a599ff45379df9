import Accounts
package import AppSupport
import Backup
import Basics
package import Capability
import Catalog
package import Configuration
import Console
import CopyJobs
package import Database
import DeviceInit
import GatewayAPI
import HTTPTypes
import Identity
import ObjectStore
import Observability
import Proto
import RPC
import Uploads
import Webhooks
import Wire

/// The capabilities of a gateway, connected to each other.
package struct GatewayModules: Sendable {
    let core: GatewayCore
    /// The sessions of the console; `nil` = there is no console.
    let consoleSessions: ConsoleSessions?
    /// All capabilities and the enabled apps.
    let capabilities: [any Capability]
    let housekeeping: Housekeeping
    /// The words of the audit log.
    let vocabulary: AuditVocabulary
    private let opened: Closings

    /// Opens the database and the store, and listens for the store's clients. After an error nothing stays open.
    static func open(
        _ configuration: Configuration, directory: DataDirectory, process: ProcessState,
        certificates: GatewayCertificates
    ) async throws -> GatewayModules {
        let opened = Closings()
        do {
            let data = try await GatewayDatabase(configuration, directory: directory, process: process, opened: opened)
            let engine = try await StoreEngine.open(
                configuration[StoreConfiguration.self], directory, data.database, Logger(process.log), opened: opened)
            let core = try GatewayCore(
                configuration, data, engine, process: process.log, certificates: certificates, opened: opened)
            try await core.createFirstAdmin(directory)
            // After the first administrator, who is made in a database without organizations.
            var appEnvironment = AppEnvironment(
                core.environment, accounts: core.accounts, identity: core.identity, state: process.serving,
                requiresSecureCookies: configuration.isSecure(.apps) || !configuration.address(.apps).isLoopback,
                spoolDirectory: directory.path)
            appEnvironment.outbox = core.events.outbox
            let apps = try await configuration.apps.open(appEnvironment)
            try await core.checkOrganizations(of: configuration)
            let backups = Backups(
                core.environment,
                of: Backups.Process(
                    directory: directory, migrations: migrations(configuration.apps.known), restart: process.restart),
                store: core.store.objects, accounts: core.accounts, outbox: core.events.outbox,
                configuration: configuration[BackupsConfiguration.self])
            await backups.recordOutcome()
            let system = SystemService(
                database: core.database, store: core.store.objects, engines: core.store.pairedEngines,
                settings: configuration.settings, startedAt: core.environment.clock.now(), certificates: certificates,
                backups: backups.counts, bucket: engine.bucketMetrics)
            return try GatewayModules(core, configuration, backups, others: [system] + apps, opened: opened)
        } catch {
            opened.close()
            throw error
        }
    }

    private init(
        _ core: GatewayCore, _ configuration: Configuration, _ backups: Backups, others: [any Capability],
        opened: Closings
    ) throws {
        self.core = core
        self.opened = opened
        vocabulary = AuditVocabulary(Self.kinds + others.map { type(of: $0) })
        let (environment, outbox) = (core.environment, core.events.outbox)
        let store = core.store.objects
        let devices = DeviceInit(
            environment, accounts: core.accounts, outbox: outbox,
            uploads: UploadEnding(store: store, outbox: outbox),
            configuration: configuration[DeviceInitConfiguration.self])
        let newRecordings = Signal()
        let uploads = try Uploads(
            environment, store: store, devices: devices.directory, endpoint: core.endpoint,
            changes: Uploads.Changes(outbox: outbox, newRecordings: newRecordings),
            configuration: configuration[UploadsConfiguration.self])
        let catalog = Catalog(
            environment, store: store, devices: devices.directory, endpoint: core.endpoint,
            changes: Catalog.Changes(outbox: outbox, newRecordings: newRecordings),
            configuration: configuration[CatalogConfiguration.self])
        let internalStorage = InternalStorageService(
            environment, store: store, policy: core.store.policy,
            uploadOfKey: { try ObjectKey.uploadID(bucket: $0, key: $1, in: $2) }, endpoint: core.endpoint,
            configuration: configuration[InternalStorageConfiguration.self])
        let copies = CopyJobs(environment, store: store, configuration: configuration[CopyJobsConfiguration.self])
        let console = configuration[ConsoleConfiguration.self]
        consoleSessions = console.isEnabled ? ConsoleSessions(environment, configuration: console) : nil
        capabilities =
            [
                core.accounts,
                AccountManagement(core.accounts, devices: devices.directory, vocabulary: vocabulary), core.identity,
                core.events,
                core.clock, devices, uploads, catalog, internalStorage, copies, backups, core.store,
            ] + others + [consoleSessions].compactMap { $0 } + [core.serverDatabase].compactMap { $0 }
        housekeeping = Housekeeping(
            database: core.database, clock: core.clock, store: store, sweeps: capabilities.flatMap(\.sweeps),
            log: core.log)
    }

    /// Aborts the store's remaining requests, writes deferred records, and closes the database.
    func close() {
        opened.close()
    }
}

/// The tables of the capabilities and the callers for their methods and their settings, which are known before the capabilities are made.
extension GatewayModules {
    /// The capabilities of the gateway, in the order of their tables: those that others refer to are first.
    private static let kinds: [any Capability.Type] = [
        Accounts.self, AccountManagement.self, DeviceInit.self, StoreCapability.self, Catalog.self, Uploads.self,
        Webhooks.self, CopyJobs.self, ClockKeeper.self, Backups.self, ConsoleSessions.self, Identity.self,
        InternalStorageService.self, SystemService.self,
    ]

    private static let ownMigrations = kinds.flatMap { $0.migrations } + [CounterVersions.migration]

    /// The tables of the gateway, and the dormant ones of apps: a database may have them.
    ///
    /// - Parameter apps: all apps of the program.
    package static func migrations(_ apps: [any App.Type]) -> [Migration] {
        ownMigrations + AppsConfiguration(known: apps).migrations
    }

    /// The types of the capabilities' settings.
    static let settings = kinds.compactMap { $0.settings }

    /// The callers for the methods of the gateway's own services.
    package static let access = kinds.reduce(
        AccessTable([
            (.anyone, [HealthMethods.check, HealthMethods.list, HealthMethods.watch]),
            (.anyone, [ServerReflectionMethods.serverReflectionInfo]),
            (.anyone, [V1AlphaServerReflectionMethods.serverReflectionInfo]),
        ])
    ) { $0.adding($1.access) }

    /// Opens the database on a server with the tables of all capabilities and apps.
    ///
    /// - Parameter onLoss: called if another gateway takes it over.
    static func openDatabase(
        on server: PostgresServer, _ configuration: Configuration, _ serving: ServingState, _ log: Logger,
        onLoss: @escaping @Sendable () -> Void
    ) throws -> Database {
        var options = databaseOptions(serving, log)
        options.samplesServer = true
        options.onLeaseLoss = onLoss
        let database = try Database(
            server: server, baseline: postgresTables, migrations: databaseMigrations(configuration), options: options)
        for finding in database.warnings {
            log.write("a property of the database's server", ["finding": finding], level: .warning)
        }
        return database
    }

    /// The statements that create the tables of all capabilities and apps on a server.
    static var postgresTables: String { String(decoding: PackageResources.postgres_sql, as: UTF8.self) }

    /// The tables of all capabilities and of the enabled apps.
    package static func databaseMigrations(_ configuration: Configuration) -> [Migration] {
        ownMigrations + configuration.apps.migrations
    }

    private static func databaseOptions(_ serving: ServingState, _ log: Logger) -> Database.Options {
        var options = Database.Options()
        options.onWriterEnded = { error in
            log.write("the database accepts no more writes: restart to recover", ["error": "\(error)"], level: .error)
            serving.stopServing()
        }
        return options
    }

    /// Opens the database in the data directory with the tables of all capabilities and of the enabled apps.
    static func openDatabase(
        _ path: String, _ configuration: Configuration, _ serving: ServingState, _ log: Logger
    ) throws -> Database {
        var options = databaseOptions(serving, log)
        options.reserveBytes = configuration.reserveBytes
        options.reserveMargin = configuration[StoreConfiguration.self].objects.minimumFreeBytesForBodies
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
        return try Database(path: path, migrations: databaseMigrations(configuration), options: options)
    }
}

/// The calls of each listener.
extension GatewayModules {
    /// Returns the router with the calls of a listener.
    func router(_ listener: ListenerName) -> Router {
        var router = Router()
        for capability in capabilities { capability.register(for: listener, in: &router) }
        return router
    }

    /// Returns the router of the listener for apps, which has none of the gateway's own calls.
    func appRouter(_ routes: [HTTPRoute]) -> Router {
        var router = router(.apps)
        router.add(routes: routes)
        return router
    }
}
