import Accounts
import Basics
import Crypto
import Database
import GatewayAPI
import ObjectStore
import RPC

/// Jobs that copy objects to the folders and buckets in the configuration.
package struct CopyJobs: Sendable {
    package static var migrations: [Migration] { CopySchema.migrations }

    private let service: CopyService
    private let management: CopyManagementService
    private let workers: CopyWorkers
    private let database: Database

    package init(
        _ environment: ModuleEnvironment, store: ObjectStore,
        configuration: CopyJobsConfiguration = CopyJobsConfiguration()
    ) {
        let clock = environment.clock
        database = environment.database
        workers = CopyWorkers(
            database: database, store: store, clock: clock, configuration: configuration, log: environment.log)
        let jobs = CopyJobRegistry(
            database: database, clock: clock, identifiers: environment.identifiers, configuration: configuration,
            workers: workers)
        let tokens = PageTokens(keyring: environment.keyring)
        service = CopyService(jobs: jobs, tokens: tokens)
        management = CopyManagementService(jobs: jobs, tokens: tokens)
    }

    /// Registers DataGatewayCopyService and CopyManagementService.
    package func register(in router: inout Router) {
        service.register(in: &router)
        management.register(in: &router)
    }

    /// Executes jobs, including those of an earlier process; returns when its task is cancelled. The next start continues copies in
    /// progress.
    package func run() async {
        await workers.run()
    }

    /// The counters of ``run()``.
    package var metrics: CopyMetrics { workers.metrics }

    /// Deletes jobs that finished long ago; called every few minutes.
    ///
    /// - Returns: the number of deleted jobs.
    package func sweep(_ permit: DeletionPermit) async throws -> Int {
        let limit = 100
        let retention = workers.configuration.retention
        var forgotten = 0
        var count = limit
        while count == limit, !Task.isCancelled {
            count = try await database.write(mayUseReserve: true) {
                try CopyRecords($0).forget(finishedFor: retention, permit, limit: limit)
            }
            forgotten += count
        }
        return forgotten
    }
}
