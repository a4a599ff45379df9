package import Accounts
package import Basics
import Crypto
import Database
package import GatewayAPI
package import ObjectStore
import RPC
package import StoreProtocol
package import Webhooks

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

    let service: ObjectService
    let archives: ObjectArchiveService
    let management: ObjectManagementService
    let removal: ObjectRemoval
    let scrubber: Scrubber
    let searchUpgrade: SearchUpgrade
    let facetBytesUpgrade: FacetBytesUpgrade
    let nameIndexer: NameIndexer
    let operations: OperationRunner
    let recordings: RecordingIndex
    let database: Database
    let store: ObjectStore
    let configuration: CatalogConfiguration

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
        self.store = store
        self.configuration = configuration
        scrubber = Scrubber(
            database: database, store: store, clock: clock, configuration: configuration, log: environment.log)
        removal = ObjectRemoval(database: database, store: store, clock: clock, outbox: outbox)
        operations = OperationRunner(
            database: database, removal: removal, clock: clock, log: environment.log, zones: environment.timeZones)
        let names = DisplayNameSearch(devices: devices)
        let bulkOperations = BulkOperations(
            database: database, clock: clock, identifiers: environment.identifiers, runner: operations,
            zones: environment.timeZones)
        management = ObjectManagementService(
            removal: removal, bulkOperations: bulkOperations,
            tagEditing: TagEditing(database: database, clock: clock, outbox: outbox),
            statistics: Statistics(database: database, clock: clock),
            storageUse: StorageUse(database: database, devices: devices), database: database,
            tokens: tokens, facets: ObjectFacets(database: database, clock: clock, devices: devices, names: names),
            savedSearches: SavedSearches(database: database, clock: clock), zones: environment.timeZones)
        recordings = RecordingIndex(
            database: database, store: store, signal: changes.newRecordings, log: environment.log)
        let pacing = UpgradePacing(log: environment.log)
        searchUpgrade = SearchUpgrade(database: database, pacing: pacing)
        facetBytesUpgrade = FacetBytesUpgrade(database: database, pacing: pacing)
        nameIndexer = NameIndexer(database: database, log: environment.log)
        archives = ObjectArchiveService(
            archives: ObjectArchives(
                database: database, store: store, clock: clock, names: names, configuration: configuration,
                limits: environment.limits),
            clock: clock, zones: environment.timeZones)
        service = ObjectService(
            listing: ObjectListing(
                database: database, tokens: tokens, clock: clock, names: names, configuration: configuration,
                zones: environment.timeZones),
            downloads: Downloads(
                database: database, store: store, endpoint: endpoint, clock: clock,
                configuration: configuration))
    }
}
