import Accounts
import Basics
import Crypto
import Database
import GatewayAPI
import ObjectStore
import RPC
import StoreProtocol
import Webhooks

/// Uploads of devices and sites: their sessions, their credentials, their recovery and their completion.
package struct Uploads: Sendable {
    package static var migrations: [Migration] { UploadRecords.migrations }

    private let service: UploadService
    private let management: UploadManagementService
    private let sweeping: UploadSweep
    private let retention: UploadRetention
    private let database: Database

    /// - Parameters:
    ///   - environment: its steady clock is what sessions are measured by.
    ///   - endpoint: where clients reach the store; issued with every upload from now on. An upload that was issued another
    ///     one is to be restarted.
    package init(
        _ environment: ModuleEnvironment, store: ObjectStore, endpoint: StoreEndpoint, outbox: Outbox = .closed,
        configuration: UploadsConfiguration = UploadsConfiguration()
    ) throws(UploadsConfigurationError) {
        try configuration.check()
        let (database, clock) = (environment.database, environment.clock)
        let steady = environment.clockGuard.steady
        service = UploadService(
            sessions: UploadSessions(
                database: database, store: store, endpoint: endpoint, clock: clock, steady: steady,
                identifiers: environment.identifiers, configuration: configuration, outbox: outbox,
                rate: configuration.callsPerMinute > 0
                    ? CallRate(perMinute: configuration.callsPerMinute, clock: clock) : nil))
        management = UploadManagementService(
            listing: UploadListing(database: database, store: store, steady: steady),
            tokens: PageTokens(keyring: environment.keyring))
        self.database = database
        retention = UploadRetention(database: database, age: configuration.recordRetention)
        sweeping = UploadSweep(database: database, store: store, configuration: configuration)
    }

    /// Enters DataGatewayService.
    package func register(in router: inout Router) {
        service.register(in: &router)
    }

    /// Enters UploadManagementService, for the admin listener.
    package func registerManagement(in router: inout Router) {
        management.register(in: &router)
    }

    /// Removes what uploads stored whose session has ended; to be called at start and every few minutes.
    ///
    /// - Returns: how many uploads it swept.
    package func sweep(_ permit: DeletionPermit) async throws -> Int {
        try await sweeping.run(permit)
    }

    /// Removes the records of uploads that ended long ago, once a day; to be called every few minutes.
    ///
    /// - Returns: how many uploads' it removed.
    package func sweepRecords(_ permit: DeletionPermit) async throws -> Int {
        try await retention.run(permit)
    }

    /// Removes counts of stored bytes, objects and uploads that are 0.
    ///
    /// - Returns: how many it removed.
    package func sweepUsage() async throws -> Int {
        try await database.write(mayUseReserve: true) { try UsageRecords($0).forgetEmpty(limit: 500) }
    }
}
