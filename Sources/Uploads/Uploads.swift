package import Accounts
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
    /// The receivers of what is changed.
    package struct Changes: Sendable {
        let outbox: Outbox
        let newRecordings: Signal

        /// - Parameter newRecordings: notified after a recording was added.
        package init(outbox: Outbox = .closed, newRecordings: Signal = Signal()) {
            self.outbox = outbox
            self.newRecordings = newRecordings
        }
    }

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
    ///   - devices: has the names of devices.
    package init(
        _ environment: ModuleEnvironment, store: ObjectStore, devices: any DeviceDirectory, endpoint: StoreEndpoint,
        changes: Changes = Changes(), configuration: UploadsConfiguration = UploadsConfiguration()
    ) throws(UploadsConfigurationError) {
        try configuration.check()
        let (database, clock) = (environment.database, environment.clock)
        let steady = environment.clockGuard.steady
        let outbox = changes.outbox
        let sessions = UploadSessions(
            database: database, store: store, endpoint: endpoint, clock: clock, steady: steady,
            identifiers: environment.identifiers, configuration: configuration, outbox: outbox,
            newRecordings: changes.newRecordings,
            rate: configuration.callsPerMinute > 0
                ? CallRate(perMinute: configuration.callsPerMinute, clock: clock) : nil)
        service = UploadService(sessions: sessions)
        management = UploadManagementService(
            listing: UploadListing(database: database, store: store, steady: steady),
            failures: FailedUploadListing(database: database, devices: devices),
            cancellation: UploadCancellation(database: database, store: store, clock: clock, outbox: outbox),
            siteUploads: SiteUploads(sessions: sessions), tokens: PageTokens(keyring: environment.keyring))
        self.database = database
        retention = UploadRetention(database: database, age: configuration.recordRetention)
        sweeping = UploadSweep(database: database, store: store, configuration: configuration, outbox: outbox)
        warnings = StorageWarnings(
            database: database, store: store, outbox: outbox, clock: clock, quota: configuration.quota)
    }
}
