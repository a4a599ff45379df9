import Accounts
import Basics
import Crypto
import Database
package import GatewayAPI
package import ObjectStore
import RPC

/// Jobs that copy objects to the folders and buckets in the configuration.
package struct CopyJobs: Sendable {
    let service: CopyService
    let management: CopyManagementService
    let workers: CopyWorkers
    let database: Database

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
}
