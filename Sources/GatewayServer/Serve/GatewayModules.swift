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
    private let internalStorage: InternalStorageService
    private let backup: BackupService
    private let restore: RestoreService
    private let system: SystemService
    let backups: BackupScheduler
    private let opened: Closings
    private let log: Logger

    /// The tables of the gateway, and the dormant ones of apps: a database may have them.
    package static let migrations = coreMigrations + AppsConfiguration().migrations

    private static let coreMigrations =
        Accounts.migrations + DeviceInit.migrations + ObjectStore.migrations + Catalog.migrations + Uploads.migrations
        + Webhooks.migrations + CopyJobs.migrations + ClockRecords.migrations + BackupScheduler.migrations
        + ConsoleSessions.migrations + Identity.migrations

    /// Opens the database and the store, and listens for the store's clients. After an error nothing stays open.
    static func open(
        _ configuration: Configuration, directory: DataDirectory, restart: Signal, state: ServingState,
        certificates: GatewayCertificates, log: ProcessLog
    ) async throws -> GatewayModules {
        let opened = Closings()
        do {
            return try await GatewayModules(
                configuration, directory: (directory, restart), state: state, certificates: certificates,
                processLog: log, opened: opened)
        } catch {
            opened.close()
            throw error
        }
    }

    /// - Parameters:
    ///   - place: the data directory, and the signal to start again with other data.
    ///   - opened: receives everything that was opened, even if this throws.
    private init(
        _ configuration: Configuration, directory place: (DataDirectory, restart: Signal), state: ServingState,
        certificates: GatewayCertificates, processLog: ProcessLog, opened: Closings
    ) async throws {
        self.opened = opened
        let directory = place.0
        let log = Logger(processLog)
        self.log = log
        let clock = SystemClock()
        let keyring = try Keyring.open(directory: directory.keys, create: directory.isNew)
        var options = Database.Options()
        options.onWriterEnded = { error in
            log.write("the database accepts no more writes: restart to recover", ["error": "\(error)"], level: .error)
            state.stopServing()
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
        database = try Database(
            path: directory.database, migrations: Self.coreMigrations + configuration.apps.migrations, options: options)
        opened.add { [database] in database.close() }
        self.clock = try ClockKeeper(
            database: database, clock: clock, confirmation: configuration.clockConfirmation, log: log)
        let clockGuard = self.clock.clockGuard
        let environment = ModuleEnvironment(
            database: database, keyring: keyring, clock: clock, clockGuard: clockGuard,
            identifiers: Identifiers(clock: clock), log: log)
        accounts = try Accounts(
            environment, keysDirectory: directory.keys, access: .gateway.adding(configuration.apps.access),
            configuration: configuration.accounts)
        identity = Identity(environment, accounts: accounts, configuration: configuration.identity)
        events = Webhooks(environment, configuration: configuration.events)
        deviceInit = DeviceInit(
            environment, accounts: accounts, outbox: events.outbox, configuration: configuration.deviceInit)
        store = try ObjectStore(
            directory: directory.store, database: database, keyring: keyring, clock: clock,
            permit: clockGuard.permit(), configuration: configuration.store)
        opened.add { [accounts, store] in
            accounts.deferred.flush(at: SystemClock().now())
            store.close()
        }
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
            environment, store: store, endpoint: endpoint, outbox: events.outbox, newRecordings: newRecordings,
            configuration: configuration.catalog)
        internalStorage = InternalStorageService(
            environment, store: store, policy: storePolicy,
            uploadOfKey: { try ObjectKey.uploadID(bucket: $0, key: $1, in: $2) }, endpoint: endpoint,
            configuration: configuration.internalStorage)
        copies = CopyJobs(environment, store: store, configuration: configuration.copies)
        consoleSessions = configuration.console.map { ConsoleSessions(environment, configuration: $0) }
        let session = ArchiveSession(directory: directory, database: database, store: store, clock: clock)
        let turn = BackupTurn()
        backup = BackupService(session, turn: turn)
        restore = RestoreService(
            session, accounts: accounts, migrations: Self.migrations, restart: place.restart)
        backups = BackupScheduler(
            configuration.backups, session, turn: turn, outbox: events.outbox, migrations: Self.migrations, log: log)
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
            environment, accounts: accounts, identity: identity, state: state,
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

    /// Records the organizations in the configuration, and warns of settings that may not work as intended.
    private func checkOrganizations(of configuration: Configuration) async throws {
        let destinations = configuration.copies.destinations
        let named =
            configuration.events.webhooks.compactMap(\.configuredOrganization)
            + destinations.flatMap { $0.organizations ?? [] }
            + configuration.identity.providers.compactMap(\.configuredOrganization)
        let reused = try await database.write(mayUseReserve: true) { try ConfiguredOrganization.record(named, in: $0) }
        for named in reused {
            log.write(
                "the configuration names a deleted organization, and another organization has its name now",
                [
                    "setting": named.setting, "organization": named.name,
                    "consequence": "the setting does not apply to the new organization",
                    "hint": "to apply it, remove the setting, restart, and add it again",
                ], level: .warning)
        }
        guard try await database.read({ try Accounts.hasSeveralOrganizations(in: $0) }) else { return }
        for destination in destinations where destination.organizations == nil {
            log.write(
                "several organizations share a copy destination",
                [
                    "destination": destination.name,
                    "consequence": "each organization may only copy below a folder of its name",
                    "hint": "set organizations of the destination in copy.destinations",
                ], level: .warning)
        }
    }

    /// Returns the router with the calls of a listener.
    func router(_ listener: ListenerName) -> Router {
        var router = Router()
        register(listener, in: &router)
        return router
    }

    /// Returns the router of the listener for apps, which has none of the gateway's own calls.
    func appRouter(_ routes: [HTTPRoute]) -> Router {
        var router = router(.apps)
        router.add(routes: routes)
        return router
    }

    private func register(_ listener: ListenerName, in router: inout Router) {
        switch listener {
        case .auth:
            accounts.register(in: &router)
            identity.register(in: &router)
        case .gateway:
            uploads.register(in: &router)
            catalog.register(in: &router)
            copies.register(in: &router)
        case .admin:
            accounts.registerManagement(devices: deviceInit.directory, in: &router)
            deviceInit.registerManagement(in: &router)
            catalog.registerManagement(in: &router)
            uploads.registerManagement(in: &router)
            backup.register(in: &router)
            restore.register(in: &router)
            ClockService(keeper: clock).register(in: &router)
            system.register(in: &router)
            events.registerManagement(in: &router)
        case .internalStorage:
            internalStorage.register(in: &router)
        case .deviceInit:
            deviceInit.register(in: &router)
        case .web:
            // The services that people use, not those of devices.
            register(.auth, in: &router)
            register(.admin, in: &router)
            catalog.register(in: &router)
            copies.register(in: &router)
        case .apps:
            apps.register(in: &router)
        case .objectStore, .ops:
            break
        }
    }

    /// A misspelled organization would leave the lines of the audit log without one.
    private static func reportUnknownOrganizations(
        of keys: [StaticKey], _ database: Database, _ log: Logger
    ) throws {
        for key in keys {
            guard let name = key.organization,
                try database.readBlocking({ try Accounts.organization(named: name, in: $0) }) == nil
            else { continue }
            log.write(
                "the organization of a static key does not exist: create it, or correct object_store.static_keys",
                ["id": key.id, "organization": name], level: .warning)
        }
    }

    /// Aborts the store's remaining requests, writes deferred records, and closes the database.
    func close() {
        opened.close()
    }
}
