import Accounts
import Basics
import Crypto
import Database
import GatewayAPI
import ObjectStore
import RPC

/// Copy jobs: objects to folders and buckets that the configuration lists.
package struct CopyJobs: Sendable {
    package static var migrations: [Migration] { CopyRecords.migrations }

    private let service: CopyService
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
        service = CopyService(
            jobs: CopyJobRegistry(
                database: database, clock: clock, identifiers: environment.identifiers, configuration: configuration,
                workers: workers),
            tokens: PageTokens(keyring: environment.keyring))
    }

    /// Enters DataGatewayCopyService.
    package func register(in router: inout Router) {
        service.register(in: &router)
    }

    /// Copies what jobs ask for, also those of an earlier process; returns when its task is cancelled. What it is at then,
    /// the next start goes on with.
    package func run() async {
        await workers.run()
    }

    /// What ``run()`` counted.
    package var metrics: CopyMetrics { workers.metrics }

    /// Forgets jobs that finished long enough ago; to be called every few minutes.
    ///
    /// - Returns: how many.
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
