import Accounts
import AppSupport
import Backup
import Basics
import Catalog
import Configuration
import Console
import CopyJobs
import Crypto
import Database
import DeviceInit
import Foundation
import GatewayAPI
import Identity
import ObjectStore
import Observability
import RPC
import StoreProtocol
import StoreServer
import Uploads
import Webhooks
import Wire

/// The capabilities of a gateway, connected to each other over one database and one object store.
package struct GatewayModules: Sendable {
    let database: Database
    let clock: ClockKeeper
    let accounts: Accounts
    let identity: Identity
    let events: Webhooks
    let deviceInit: DeviceInit
    let store: ObjectStore
    let storePolicy: StoreAccessPolicy
    /// The object store's server. It listens before the uploads are made, which need its address.
    let storeServer: ObjectStoreServer
    let storeRequests = StoreRequestMetrics()
    let uploads: Uploads
    let catalog: Catalog
    let copies: CopyJobs
    let apps: GatewayApps
    /// The sessions of the console; `nil` = there is no console.
    let consoleSessions: ConsoleSessions?
    let internalStorage: InternalStorageService
    let backup: BackupService
    let restore: RestoreService
    let system: SystemService
    let backups: BackupScheduler
    private let opened: Closings
    let log: Logger
    /// The counts of reached limits that no listener counts.
    let limits: LimitCounts

    /// The tables of the gateway, and the dormant ones of apps: a database may have them.
    package static let migrations = coreMigrations + AppsConfiguration().migrations

    private static let coreMigrations =
        Accounts.migrations + DeviceInit.migrations + ObjectStore.migrations + Catalog.migrations + Uploads.migrations
        + Webhooks.migrations + CopyJobs.migrations + ClockSchema.migrations + BackupScheduler.migrations
        + ConsoleSessions.migrations + Identity.migrations + DataDirectory.migrations

    /// Opens the database and the store, and listens for the store's clients. After an error nothing stays open.
    static func open(
        _ configuration: Configuration, directory: DataDirectory, process: ProcessState,
        certificates: GatewayCertificates, log: ProcessLog
    ) async throws -> GatewayModules {
        let opened = Closings()
        do {
            return try await GatewayModules(
                configuration, directory: directory, process: process, certificates: certificates, processLog: log,
                opened: opened)
        } catch {
            opened.close()
            throw error
        }
    }

    /// - Parameter opened: receives everything that was opened, even if this throws.
    private init(
        _ configuration: Configuration, directory: DataDirectory, process: ProcessState,
        certificates: GatewayCertificates, processLog: ProcessLog, opened: Closings
    ) async throws {
        self.opened = opened
        let log = Logger(processLog)
        self.log = log
        let clock = SystemClock()
        let keyring = try directory.openKeyring()
        var options = Database.Options()
        options.onWriterEnded = { error in
            log.write("the database accepts no more writes: restart to recover", ["error": "\(error)"], level: .error)
            process.serving.stopServing()
        }
        options.reserveBytes = configuration.reserveBytes
        options.reserveMargin = configuration.store.minimumFreeBytesForBodies
        options.onReserveChange = { isHeld in
            if isHeld { return log.write("the disk has free space again", ["consequence": "all calls are served"]) }
            log.write(
                "the disk is full: the gateway released its reserve",
                [
                    "consequence": "only deletions, sign-ins, downloads and sweeps are served",
                    "hint": "delete objects, or enlarge the disk",
                ], level: .warning)
        }
        options.onLogChange = { change in log.write(change, path: directory.database) }
        database = try Database(
            path: directory.database, migrations: Self.coreMigrations + configuration.apps.migrations, options: options)
        opened.add { [database] in database.close() }
        try directory.require(keyring, of: database)
        self.clock = try ClockKeeper(
            database: database, clock: clock, confirmation: configuration.clockConfirmation, log: log)
        let clockGuard = self.clock.clockGuard
        let environment = ModuleEnvironment(
            database: database, keyring: keyring, clock: clock, clockGuard: clockGuard,
            identifiers: Identifiers(clock: clock), log: log)
        limits = environment.limits
        accounts = try Accounts(
            environment, keysDirectory: directory.keys, access: .gateway.adding(configuration.apps.access),
            configuration: configuration.accounts)
        identity = Identity(environment, accounts: accounts, configuration: configuration.identity)
        events = Webhooks(environment, configuration: configuration.events)
        store = try ObjectStore(
            directory: directory.store, database: database, keyring: keyring, clock: clock,
            permit: clockGuard.permit(), configuration: configuration.store)
        opened.add { [accounts, store] in
            accounts.deferred.flush(at: SystemClock().now())
            store.close()
        }
        deviceInit = DeviceInit(
            environment, accounts: accounts, outbox: events.outbox,
            uploads: UploadEnding(store: store, outbox: events.outbox), configuration: configuration.deviceInit)
        let address = configuration.address(.objectStore)
        var surface = configuration.objectStore
        // If the endpoint is a name, clients put the bucket in front of it.
        surface.bucketDomains = [configuration.publicEndpoint?.host ?? address.host.lowercased()]
        surface.publicAuthority = configuration.publicEndpoint?.authority
        surface.daemon.observers = [
            HTTPAccessLog(listener: ListenerName.objectStore.rawValue, log: processLog), storeRequests,
        ]
        surface.daemon.certificates = certificates[.objectStore]
        try Self.reportUnknownOrganizations(of: configuration.store.staticKeys, database, log)
        storePolicy = StoreAccessPolicy(
            store: store, clock: clock, steady: clockGuard.steady, configuration: configuration.uploads)
        storeServer = try ObjectStoreServer(
            address: configuration.listeners[.objectStore], store: store, policy: storePolicy, configuration: surface,
            log: log)
        opened.add { [storeServer] in storeServer.stop(drainingFor: .zero) }
        let scheme = configuration.isSecure(.objectStore) ? "https" : "http"
        // Without a listener nobody is given the address: uploads require one.
        let bound = storeServer.address.map { "\(address.host):\($0.port)" } ?? "object-store.invalid"
        let endpoint = try configuration.publicEndpoint ?? StoreEndpoint("\(scheme)://\(bound)")
        let newRecordings = Signal()
        uploads = try Uploads(
            environment, store: store, endpoint: endpoint, outbox: events.outbox, newRecordings: newRecordings,
            configuration: configuration.uploads)
        catalog = Catalog(
            environment, store: store, devices: deviceInit.directory, endpoint: endpoint,
            changes: Catalog.Changes(outbox: events.outbox, newRecordings: newRecordings),
            configuration: configuration.catalog)
        internalStorage = InternalStorageService(
            environment, store: store, policy: storePolicy,
            uploadOfKey: { try ObjectKey.uploadID(bucket: $0, key: $1, in: $2) }, endpoint: endpoint,
            configuration: configuration.internalStorage)
        copies = CopyJobs(environment, store: store, configuration: configuration.copies)
        consoleSessions = configuration.console.map { ConsoleSessions(environment, configuration: $0) }
        let session = ArchiveSession(directory: directory, database: database, store: store, clock: clock)
        let turn = BackupTurn()
        restore = RestoreService(
            session, accounts: accounts, migrations: Self.migrations, restart: process.restart, log: log)
        backups = BackupScheduler(
            configuration.backups, session, turn: turn, outbox: events.outbox, migrations: Self.migrations, log: log)
        backup = BackupService(session, turn: turn, metrics: backups.metrics)
        system = SystemService(
            store: store, settings: configuration.settings, startedAt: clock.now(), certificates: certificates,
            backups: backups.metrics)
        let given = ProcessInfo.processInfo.environment["DATA_GATEWAY_ADMIN_PASSWORD"]
        try await accounts.createFirstAdmin(password: given.map { Secret($0) }) { password in
            try directory.writeInitialPassword(password)
            log.write(
                "the first administrator was created",
                ["organization": "system", "user": "admin", "password_file": directory.initialPassword])
        }
        // After the first administrator, who is made in a database without organizations.
        var appEnvironment = AppEnvironment(
            environment, accounts: accounts, identity: identity, state: process.serving,
            requiresSecureCookies: configuration.isSecure(.apps) || !configuration.address(.apps).isLoopback,
            spoolDirectory: directory.path)
        appEnvironment.outbox = events.outbox
        apps = try await GatewayApps(configuration.apps, appEnvironment)
        try await checkOrganizations(of: configuration)
        do {
            try await restore.recordOutcome()
        } catch {
            log.write("the result of the restore is not in the audit log", ["error": "\(error)"], level: .error)
        }
    }

    /// Aborts the store's remaining requests, writes deferred records, and closes the database.
    func close() {
        opened.close()
    }
}
