import Accounts
import Basics
import Crypto
import Database
import GatewayAPI
import ObjectStore
import RPC
import StoreProtocol
import Webhooks

/// The verified objects, which users list and download.
package struct Catalog: Sendable {
    /// The ways in which the catalog learns of changes and reports them.
    package struct Changes: Sendable {
        /// Receives the events of deletions and of changed tags.
        package let outbox: Outbox
        /// Notified after a recording was added.
        package let newRecordings: Signal

        package init(outbox: Outbox, newRecordings: Signal) {
            self.outbox = outbox
            self.newRecordings = newRecordings
        }
    }

    package static var migrations: [Migration] { ObjectSchema.migrations }

    private let service: ObjectService
    private let archives: ObjectArchiveService
    private let management: ObjectManagementService
    private let removal: ObjectRemoval
    private let scrubber: Scrubber
    private let searchUpgrade: SearchUpgrade
    private let operations: OperationRunner
    private let recordings: RecordingIndex
    private let database: Database
    private let configuration: CatalogConfiguration

    /// - Parameters:
    ///   - devices: decides which devices are retired.
    ///   - endpoint: the public address of the store, with which presigned URLs begin.
    package init(
        _ environment: ModuleEnvironment, store: ObjectStore, devices: any DeviceDirectory, endpoint: StoreEndpoint,
        changes: Changes, configuration: CatalogConfiguration
    ) {
        let outbox = changes.outbox
        let (database, clock) = (environment.database, environment.clock)
        let tokens = PageTokens(keyring: environment.keyring)
        self.database = database
        self.configuration = configuration
        scrubber = Scrubber(
            database: database, store: store, clock: clock, configuration: configuration, log: environment.log)
        removal = ObjectRemoval(database: database, store: store, clock: clock, outbox: outbox)
        operations = OperationRunner(database: database, removal: removal, clock: clock, log: environment.log)
        let bulkOperations = BulkOperations(
            database: database, clock: clock, identifiers: environment.identifiers, runner: operations)
        management = ObjectManagementService(
            removal: removal, bulkOperations: bulkOperations,
            tagEditing: TagEditing(database: database, clock: clock, outbox: outbox),
            statistics: Statistics(database: database, clock: clock), database: database,
            tokens: tokens, facets: ObjectFacets(database: database, clock: clock, devices: devices))
        recordings = RecordingIndex(
            database: database, store: store, signal: changes.newRecordings, log: environment.log)
        searchUpgrade = SearchUpgrade(database: database, log: environment.log)
        archives = ObjectArchiveService(
            archives: ObjectArchives(
                database: database, store: store, clock: clock, configuration: configuration,
                limits: environment.limits),
            clock: clock)
        service = ObjectService(
            listing: ObjectListing(
                database: database, tokens: tokens, clock: clock, configuration: configuration),
            downloads: Downloads(
                database: database, store: store, endpoint: endpoint, clock: clock,
                configuration: configuration))
    }

    /// Registers DataGatewayObjectService and ObjectArchiveService.
    package func register(in router: inout Router) {
        service.register(in: &router)
        archives.register(in: &router)
    }

    /// Registers ObjectManagementService, for the admin listener.
    package func registerManagement(in router: inout Router) {
        management.register(in: &router)
    }

    /// Repeatedly reads all objects again to verify them, at the configured rate; returns when its task is cancelled.
    package func scrub() async {
        await scrubber.run()
    }

    /// Adds objects of earlier versions to the search tables; returns when all are added, or its task is cancelled.
    package func upgradeSearch() async {
        await searchUpgrade.run()
    }

    /// Reads the summaries of recordings; returns when its task is cancelled.
    package func indexRecordings() async {
        await recordings.run()
    }

    /// The progress of ``upgradeSearch()``.
    package var searchUpgradeProgress: SearchUpgradeProgress { searchUpgrade.progress }

    /// The counters of ``scrub()``.
    package var scrubMetrics: ScrubMetrics { scrubber.metrics }

    /// Executes operations on many objects, including those that an earlier process began; returns when its task is cancelled.
    package func runOperations() async {
        await operations.run()
    }

    /// Deletes the records of operations that finished long ago; called every few minutes.
    ///
    /// - Returns: the number of deleted records.
    package func sweepOperations(_ permit: DeletionPermit) async throws -> Int {
        let limit = 100
        return try await removal.inBatches(of: limit) {
            try await database.write(mayUseReserve: true) {
                try ObjectOperationRecords($0).forget(
                    finishedFor: configuration.operationRetention, permit, limit: limit)
            }
        }
    }

    /// Moves objects beyond their organization's retention to the trash; called every few minutes.
    ///
    /// - Returns: the number of objects.
    package func applyRetention(_ permit: DeletionPermit) async throws -> Int {
        try await removal.applyRetention(permit)
    }

    /// Permanently deletes objects whose time in the trash is over; called every few minutes.
    ///
    /// - Returns: the number of deleted objects.
    package func sweepTrash(_ permit: DeletionPermit) async throws -> Int {
        try await removal.sweepTrash(permit)
    }

    /// Removes the records of objects that were deleted long ago; called every few minutes.
    ///
    /// - Returns: the number of objects.
    package func sweepDeleted(_ permit: DeletionPermit) async throws -> Int {
        try await removal.forgetDeleted(olderThan: configuration.deletedRetention, permit)
    }
}
