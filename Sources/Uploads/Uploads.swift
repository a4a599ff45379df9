import Accounts
package import Basics
import Crypto
import Database
package import GatewayAPI
package import ObjectStore
import RPC
package import StoreProtocol
package import Webhooks

/// Uploads of devices and sites, and of users for their sites: sessions, credentials, recovery and completion.
package struct Uploads: Sendable {
    let service: UploadService
    let management: UploadManagementService
    let sweeping: UploadSweep
    let retention: UploadRetention
    let warnings: StorageWarnings
    let database: Database

    /// - Parameters:
    ///   - environment: provides the steady clock for sessions.
    ///   - endpoint: the public address of the store, which is issued with every new upload. Uploads that were issued another one
    ///     have to be restarted.
    ///   - newRecordings: notified after a recording was added.
    package init(
        _ environment: ModuleEnvironment, store: ObjectStore, endpoint: StoreEndpoint, outbox: Outbox = .closed,
        newRecordings: Signal = Signal(), configuration: UploadsConfiguration = UploadsConfiguration()
    ) throws(UploadsConfigurationError) {
        try configuration.check()
        let (database, clock) = (environment.database, environment.clock)
        let steady = environment.clockGuard.steady
        let sessions = UploadSessions(
            database: database, store: store, endpoint: endpoint, clock: clock, steady: steady,
            identifiers: environment.identifiers, configuration: configuration, outbox: outbox,
            newRecordings: newRecordings,
            rate: configuration.callsPerMinute > 0
                ? CallRate(perMinute: configuration.callsPerMinute, clock: clock) : nil)
        service = UploadService(sessions: sessions)
        management = UploadManagementService(
            listing: UploadListing(database: database, store: store, steady: steady),
            cancellation: UploadCancellation(database: database, store: store, clock: clock, outbox: outbox),
            siteUploads: SiteUploads(sessions: sessions), tokens: PageTokens(keyring: environment.keyring))
        self.database = database
        retention = UploadRetention(database: database, age: configuration.recordRetention)
        sweeping = UploadSweep(database: database, store: store, configuration: configuration, outbox: outbox)
        warnings = StorageWarnings(
            database: database, store: store, outbox: outbox, clock: clock, quota: configuration.quota)
    }
}
