import Accounts
import AppSupport
import Backup
import Basics
import Capability
import Catalog
import Configuration
import Console
import CopyJobs
import Database
import DeviceInit
import GatewayAPI
import HTTPTypes
import Observability
import RPC
import Uploads
import Webhooks

/// The capabilities of a gateway, connected to each other.
package struct GatewayModules: Sendable {
    let core: GatewayCore
    /// The sessions of the console; `nil` = there is no console.
    let consoleSessions: ConsoleSessions?
    /// All capabilities and the enabled apps.
    let capabilities: [any Capability]
    let housekeeping: Housekeeping
    private let opened: Closings

    /// Opens the database and the store, and listens for the store's clients. After an error nothing stays open.
    static func open(
        _ configuration: Configuration, directory: DataDirectory, process: ProcessState,
        certificates: GatewayCertificates, log: ProcessLog
    ) async throws -> GatewayModules {
        let opened = Closings()
        do {
            let core = try GatewayCore(
                configuration, directory: directory, process: process, certificates: certificates, processLog: log,
                opened: opened)
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
                of: Backups.Process(directory: directory, migrations: migrations, restart: process.restart),
                store: core.store.objects, accounts: core.accounts, outbox: core.events.outbox,
                schedules: configuration.backups)
            await backups.recordOutcome()
            let system = SystemService(
                store: core.store.objects, settings: configuration.settings, startedAt: core.environment.clock.now(),
                certificates: certificates, backups: backups.counts)
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
        let (environment, outbox) = (core.environment, core.events.outbox)
        let store = core.store.objects
        let devices = DeviceInit(
            environment, accounts: core.accounts, outbox: outbox,
            uploads: UploadEnding(store: store, outbox: outbox), configuration: configuration.deviceInit)
        let newRecordings = Signal()
        let uploads = try Uploads(
            environment, store: store, endpoint: core.endpoint, outbox: outbox, newRecordings: newRecordings,
            configuration: configuration.uploads)
        let catalog = Catalog(
            environment, store: store, devices: devices.directory, endpoint: core.endpoint,
            changes: Catalog.Changes(outbox: outbox, newRecordings: newRecordings),
            configuration: configuration.catalog)
        let internalStorage = InternalStorageService(
            environment, store: store, policy: core.store.policy,
            uploadOfKey: { try ObjectKey.uploadID(bucket: $0, key: $1, in: $2) }, endpoint: core.endpoint,
            configuration: configuration.internalStorage)
        let copies = CopyJobs(environment, store: store, configuration: configuration.copies)
        consoleSessions = configuration.console.map { ConsoleSessions(environment, configuration: $0) }
        capabilities =
            [
                core.accounts, AccountManagement(core.accounts, devices: devices.directory), core.identity, core.events,
                core.clock, devices, uploads, catalog, internalStorage, copies, backups, core.store,
            ] + others + [consoleSessions].compactMap { $0 }
        housekeeping = Housekeeping(
            database: core.database, clock: core.clock, store: store, sweeps: capabilities.flatMap(\.sweeps),
            log: core.log)
    }

    /// Aborts the store's remaining requests, writes deferred records, and closes the database.
    func close() {
        opened.close()
    }
}
