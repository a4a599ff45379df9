package import Accounts
package import Basics
package import Capability
package import Database
package import GatewayAPI
package import ObjectStore
import Proto
package import RPC
package import Webhooks

/// Backups of the whole gateway, by request and by schedule, and restores through the running gateway.
package struct Backups: Capability {
    /// The process that backups and restores are of.
    package struct Process: Sendable {
        let directory: DataDirectory
        let migrations: [Migration]
        let restart: Signal

        /// - Parameters:
        ///   - migrations: those of this program: of all capabilities and apps.
        ///   - restart: notified when the process has to end and start again.
        package init(directory: DataDirectory, migrations: [Migration], restart: Signal) {
            self.directory = directory
            self.migrations = migrations
            self.restart = restart
        }
    }

    private let backup: BackupService
    private let restore: RestoreService
    private let scheduler: BackupScheduler
    private let leases: Leases
    private let log: Logger

    package init(
        _ environment: ModuleEnvironment, of process: Process, store: ObjectStore, accounts: Accounts, outbox: Outbox,
        configuration: BackupsConfiguration
    ) {
        log = environment.log
        leases = environment.database.leases
        let session = ArchiveSession(
            directory: process.directory, database: environment.database, store: store, clock: environment.clock)
        let turn = BackupTurn(leases)
        restore = RestoreService(
            session, accounts: accounts, migrations: process.migrations, restart: process.restart, log: log)
        scheduler = BackupScheduler(
            configuration.schedules, session, turn: turn, outbox: outbox, migrations: process.migrations, log: log)
        backup = BackupService(session, turn: turn, metrics: scheduler.metrics)
    }

    package static var migrations: [Migration] { BackupSchema.migrations + DataDirectory.migrations }

    package static var settings: (any CapabilitySettings.Type)? { BackupsConfiguration.self }

    package static var access: AccessTable {
        AccessTable([
            (.systemAdmin, [BackupServiceMethods.backup]),
            (
                .systemAdmin,
                [
                    RestoreServiceMethods.stageArchive, RestoreServiceMethods.uploadArchive,
                    RestoreServiceMethods.getRestore, RestoreServiceMethods.discardArchive,
                    RestoreServiceMethods.applyArchive, RestoreServiceMethods.returnToPreviousData,
                    RestoreServiceMethods.deletePreviousData,
                ]
            ),
        ])
    }

    package func register(for listener: ListenerName, in router: inout Router) {
        guard listener == .admin || listener == .web else { return }
        backup.register(in: &router)
        restore.register(in: &router)
    }

    package var metrics: [any MetricSource] { [scheduler.metrics] }

    package var background: [BackgroundWork] {
        [BackgroundWork("scheduled backups", under: leases) { await scheduler.run() }]
    }

    /// The counters of backups.
    package var counts: BackupMetrics { scheduler.metrics }

    /// Records the result of a restore that began with this start in the audit log.
    package func recordOutcome() async {
        do {
            try await restore.recordOutcome()
        } catch {
            log.write("the result of the restore is not in the audit log", ["error": "\(error)"], level: .error)
        }
    }
}
