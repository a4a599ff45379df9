import Accounts
import Basics
import Catalog
import Crypto
import Database
import Foundation
import GatewayAPI
import StoreProtocol
import Testing

@testable import ObjectStore
@testable import Uploads

/// Uploads over a real database and store, in a folder of its own that goes with it; the clock is the test's.
final class Scene: Sendable {
    static let endpoint = "http://127.0.0.1:50080"
    static let partSize: Int64 = 65_536
    static let keyring = Keyring(root: Secret([UInt8](repeating: 1, count: 32)))
    /// The epoch of an unchanged key at an unchanged site.
    static let epoch: Int64 = (1 << 32) + 1

    let directory: URL
    let database: Database
    let store: ObjectStore
    let clock = ManualClock()
    let clockGuard: ClockGuard
    let identifiers: Identifiers
    let configuration: UploadsConfiguration
    let uploads: Uploads

    init(
        store storeConfiguration: ObjectStoreConfiguration = .init(),
        _ configure: (inout UploadsConfiguration) -> Void = { _ in }
    ) throws {
        // What survives a crash is the database's and the store's to test, so that memory does here.
        let parent = FileManager.default.fileExists(atPath: "/dev/shm") ? "/dev/shm" : NSTemporaryDirectory()
        directory = URL(filePath: parent).appending(path: "uploads-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: directory, withIntermediateDirectories: true)
        database = try Database(
            path: directory.appending(path: "db").path,
            migrations: Accounts.migrations + ObjectStore.migrations + Catalog.migrations + Uploads.migrations)
        store = try ObjectStore(
            directory: directory.appending(path: "store").path, database: database, keyring: Self.keyring, clock: clock,
            configuration: storeConfiguration)
        // The rows that tests make speak of no files: a reconciliation that went on beside them would call these lost.
        store.reconciler.drain()
        identifiers = Identifiers(clock: clock)
        clockGuard = ClockGuard(clock: clock)
        var configuration = UploadsConfiguration()
        configuration.partSize = Self.partSize
        configure(&configuration)
        self.configuration = configuration
        uploads = try Uploads(
            ModuleEnvironment(
                database: database, keyring: Self.keyring, clock: clock, clockGuard: clockGuard,
                identifiers: identifiers),
            store: store, endpoint: StoreEndpoint(Self.endpoint), configuration: configuration)
        try database.writeBlocking { connection in
            for organization in 1...2 {
                try connection.execute(
                    """
                    INSERT INTO organizations (id, name, display_name, kind, created_at, updated_at)
                    VALUES ($1, $2, $2, 1, 0, 0)
                    """, organization, "organization-\(organization)")
            }
            for site in 1...3 {
                try connection.execute(
                    """
                    INSERT INTO sites (id, organization_id, name, status, created_at, updated_at)
                    VALUES ($1, $2, $3, 1, 0, 0)
                    """, site, site == 3 ? 2 : 1, "site-\(site)")
            }
        }
    }

    deinit {
        store.discards.drain()
        store.removals.drain()
        database.close()
        try? FileManager.default.removeItem(at: directory)
    }

    /// To sweep with. The test's clock must be a confirmed one.
    var permit: DeletionPermit {
        get throws { try #require(clockGuard.permit()) }
    }

    /// A gateway that was started again, with what its configuration became.
    func service(
        endpoint: String = Scene.endpoint, callsPerMinute: Int = 0,
        _ configure: (inout UploadsConfiguration) -> Void = { _ in }
    ) throws -> UploadService {
        var configuration = configuration
        configure(&configuration)
        return UploadService(
            sessions: UploadSessions(
                database: database, store: store, endpoint: try StoreEndpoint(endpoint), clock: clock,
                steady: clockGuard.steady, identifiers: identifiers, configuration: configuration,
                rate: callsPerMinute > 0 ? CallRate(perMinute: callsPerMinute, clock: clock) : nil))
    }

    var policy: StoreAccessPolicy {
        StoreAccessPolicy(store: store, clock: clock, steady: clockGuard.steady, configuration: configuration)
    }

    /// A device of site 1 with a live key, unless said otherwise.
    func device(
        _ number: Int = 1, site: Int64 = 1, organization: Int64 = 1, key: String? = nil
    ) throws -> Caller {
        let id = "260101-00000\(number)"
        let key = APIKeyReference(id: key ?? "key-\(id)", epoch: Self.epoch)
        try database.writeBlocking { connection in
            try connection.execute("DELETE FROM api_keys WHERE device_id = $1", id)
            try connection.execute(
                """
                INSERT INTO api_keys (id, organization_id, site_id, owner_kind, device_id, suite_id, name, digest,
                    status, created_at, updated_at)
                VALUES ($1, $2, $3, 2, $4, 1, $4, $5, 1, 0, 0)
                """, key.id, organization, site, id, [UInt8(1)])
        }
        return try Caller(
            scene: self,
            principal: .device(
                DevicePrincipal(deviceID: id, suiteID: 1, siteID: site, organizationID: organization, key: key)))
    }

    func site(_ id: Int64, organization: Int64 = 1) throws -> Caller {
        try Caller(
            scene: self,
            principal: .site(
                SitePrincipal(
                    siteID: id, organizationID: organization,
                    key: APIKeyReference(id: "site-key-\(id)", epoch: Self.epoch))))
    }

    func record(_ uploadID: String) throws -> UploadRecord {
        try #require(try database.readBlocking { try UploadRecords($0).upload(uploadID) })
    }

    func snapshot(_ uploadID: String) throws -> StoreSnapshot {
        try database.readBlocking { try store.snapshot(uploadID: uploadID, in: $0) }
    }
}
