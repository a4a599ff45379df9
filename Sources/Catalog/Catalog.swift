import Accounts
import Basics
import Crypto
import Database
import GatewayAPI
import ObjectStore
import RPC
import StoreProtocol
import Webhooks

/// What was uploaded and verified: listed and downloaded by users.
package struct Catalog: Sendable {
    package static var migrations: [Migration] { ObjectRecords.migrations }

    private let service: ObjectService
    private let management: ObjectManagementService
    private let removal: ObjectRemoval
    private let scrubber: Scrubber
    private let searchUpgrade: SearchUpgrade
    private let operations: OperationRunner
    private let database: Database
    private let configuration: CatalogConfiguration

    /// - Parameter endpoint: where clients reach the store; presigned URLs begin with it.
    package init(
        _ environment: ModuleEnvironment, store: ObjectStore, endpoint: StoreEndpoint, outbox: Outbox = .closed,
        configuration: CatalogConfiguration = CatalogConfiguration()
    ) {
        let (database, clock) = (environment.database, environment.clock)
        let tokens = PageTokens(keyring: environment.keyring)
        self.database = database
        self.configuration = configuration
        scrubber = Scrubber(
            database: database, store: store, clock: clock, configuration: configuration, log: environment.log)
        removal = ObjectRemoval(database: database, store: store, clock: clock, outbox: outbox)
        operations = OperationRunner(database: database, removal: removal, clock: clock, log: environment.log)
        let bulkDeletion = BulkDeletion(
            database: database, clock: clock, identifiers: environment.identifiers, runner: operations)
        management = ObjectManagementService(
            removal: removal, bulkDeletion: bulkDeletion,
            tagEditing: TagEditing(database: database, clock: clock, outbox: outbox),
            statistics: Statistics(database: database, clock: clock), database: database,
            tokens: tokens, facets: ObjectFacets(database: database, clock: clock))
        searchUpgrade = SearchUpgrade(database: database, log: environment.log)
        service = ObjectService(
            listing: ObjectListing(
                database: database, tokens: tokens, clock: clock, configuration: configuration),
            downloads: Downloads(
                database: database, store: store, endpoint: endpoint, clock: clock,
                configuration: configuration))
    }

    /// Enters DataGatewayObjectService.
    package func register(in router: inout Router) {
        service.register(in: &router)
    }

    /// Enters ObjectManagementService, for the admin listener.
    package func registerManagement(in router: inout Router) {
        management.register(in: &router)
    }

    /// Reads all objects again, over and over, at the configured rate; returns when its task is cancelled.
    package func scrub() async {
        await scrubber.run()
    }

    /// Enters objects of earlier versions into the search tables; returns when all are, or its task is cancelled.
    package func upgradeSearch() async {
        await searchUpgrade.run()
    }

    /// How far ``upgradeSearch()`` is.
    package var searchUpgradeProgress: SearchUpgradeProgress { searchUpgrade.progress }

    /// What ``scrub()`` counted.
    package var scrubMetrics: ScrubMetrics { scrubber.metrics }

    /// Works off what was asked for of many objects, also of an earlier process; returns when its task is cancelled.
    package func runOperations() async {
        await operations.run()
    }

    /// Forgets operations that finished long ago; to be called every few minutes.
    ///
    /// - Returns: how many.
    package func sweepOperations(_ permit: DeletionPermit) async throws -> Int {
        let limit = 100
        return try await removal.inBatches(of: limit) {
            try await database.write(mayUseReserve: true) {
                try ObjectOperationRecords($0).forget(
                    finishedFor: configuration.operationRetention, permit, limit: limit)
            }
        }
    }

    /// Moves what is older than its organization keeps objects to the trash; to be called every few minutes.
    ///
    /// - Returns: how many objects.
    package func applyRetention(_ permit: DeletionPermit) async throws -> Int {
        try await removal.applyRetention(permit)
    }

    /// Deletes what was in the trash for long enough; to be called every few minutes.
    ///
    /// - Returns: how many objects it deleted.
    package func sweepTrash(_ permit: DeletionPermit) async throws -> Int {
        try await removal.sweepTrash(permit)
    }

    /// Removes what is left of objects that were deleted long ago; to be called every few minutes.
    ///
    /// - Returns: of how many objects.
    package func sweepDeleted(_ permit: DeletionPermit) async throws -> Int {
        try await removal.forgetDeleted(olderThan: configuration.deletedRetention, permit)
    }
}
