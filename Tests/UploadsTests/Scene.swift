import Accounts
import Basics
import Catalog
import Crypto
import Database
import Foundation
import GatewayAPI
import GatewayTesting
import StoreProtocol
import TestSupport
import Testing
import Webhooks

@testable import DirectoryEngine
@testable import ObjectStore
@testable import Uploads

/// Uploads over a real database and store, in a temporary folder; the test controls the clock.
final class Scene: Sendable {
    static let endpoint = "http://127.0.0.1:50080"
    static let partSize: Int64 = 65_536
    static let keyring = Keyring(root: Secret([UInt8](repeating: 1, count: 32)))

    private let base: TestDatabase
    let store: ObjectStore
    let clock = ManualClock()
    let clockGuard: ClockGuard
    let identifiers: Identifiers
    let configuration: UploadsConfiguration
    let uploads: Uploads
    let outbox: Outbox

    init(
        store storeConfiguration: ObjectStoreConfiguration = .init(), files: DirectoryConfiguration = .init(),
        events: Set<EventType> = [], _ configure: (inout UploadsConfiguration) -> Void = { _ in }
    ) throws {
        base = try TestDatabase(
            Accounts.migrations + ObjectStore.migrations + Catalog.migrations + Uploads.migrations
                + Webhooks.migrations)
        let database = base.database
        store = try ObjectStore(
            directory: base.folder.path + "/store", database: database, keyring: Self.keyring, clock: clock,
            configuration: storeConfiguration, files: files)
        // The tests' rows have no files: a reconciliation in parallel would mark them as lost.
        store.work.upkeep.drain()
        identifiers = Identifiers(clock: clock)
        clockGuard = ClockGuard(clock: clock)
        var configuration = UploadsConfiguration()
        configuration.partSize = Self.partSize
        configure(&configuration)
        self.configuration = configuration
        let environment = ModuleEnvironment(
            database: database, keyring: Self.keyring, clock: clock, clockGuard: clockGuard, identifiers: identifiers)
        var webhooks = WebhooksConfiguration()
        if !events.isEmpty {
            webhooks.webhooks = [
                Webhook(name: "pager", url: "http://127.0.0.1/", keys: [Secret([0])], types: events)
            ]
        }
        outbox = Webhooks(environment, configuration: webhooks).outbox
        uploads = try Uploads(
            environment, store: store, devices: NamedDevices(), endpoint: StoreEndpoint(Self.endpoint),
            changes: Uploads.Changes(outbox: outbox),
            configuration: configuration)
        let rows = AccountRows(database)
        for organization in 1...2 { try rows.addOrganization("organization-\(organization)") }
        for site in 1...3 { try rows.addSite("site-\(site)", organization: site == 3 ? 2 : 1) }
    }

    /// Returns the recorded events: types and subjects, and the bodies of the requests.
    func events() throws -> [(name: String, payload: String)] {
        try database.readBlocking { connection in
            try connection.query("SELECT type, subject, payload FROM events ORDER BY position") {
                (name: "\($0.text("type")) \($0.text("subject"))", payload: $0.text("payload"))
            }
        }
    }

    var directory: URL { base.folder.url }

    var database: Database { base.database }

    var rows: AccountRows { AccountRows(database) }

    deinit {
        store.work.discards.drain()
        store.work.removals.drain()
    }

    /// A permit for sweeps. The test's clock must be confirmed.
    var permit: DeletionPermit {
        get throws { try #require(clockGuard.permit()) }
    }

    /// Makes the service of a restarted gateway, with a changed configuration.
    func service(
        endpoint: String = Scene.endpoint, callsPerMinute: Int = 0,
        _ configure: (inout UploadsConfiguration) -> Void = { _ in }
    ) throws -> UploadService {
        UploadService(
            sessions: try sessions(endpoint: endpoint, callsPerMinute: callsPerMinute, configure))
    }

    /// Makes the rules of users' uploads.
    func siteUploads(_ configure: (inout UploadsConfiguration) -> Void = { _ in }) throws -> SiteUploads {
        SiteUploads(sessions: try sessions(endpoint: Self.endpoint, callsPerMinute: 0, configure))
    }

    private func sessions(
        endpoint: String, callsPerMinute: Int, _ configure: (inout UploadsConfiguration) -> Void
    ) throws -> UploadSessions {
        var configuration = configuration
        configure(&configuration)
        return UploadSessions(
            database: database, store: store, endpoint: try StoreEndpoint(endpoint), clock: clock,
            steady: clockGuard.steady, identifiers: identifiers, configuration: configuration, outbox: outbox,
            rate: callsPerMinute > 0 ? CallRate(perMinute: callsPerMinute, clock: clock) : nil)
    }

    var policy: StoreAccessPolicy {
        StoreAccessPolicy(store: store, clock: clock, steady: clockGuard.steady, configuration: configuration)
    }

    /// Adds a device with a valid key; by default at site 1.
    func device(
        _ number: Int = 1, site: Int64 = 1, organization: Int64 = 1, key: String? = nil
    ) throws -> Caller {
        let id = "260101-00000\(number)"
        let place = DeviceKeys.Place(deviceID: id, suiteID: 1, siteID: site, organizationID: organization)
        let key = try rows.setKey(key ?? "key-\(id)", of: place)
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
                    key: APIKeyReference(id: "site-key-\(id)", epoch: 1))))
    }

    func record(_ uploadID: String) throws -> UploadRecord {
        try #require(try database.readBlocking { try UploadRecords($0).upload(uploadID) })
    }

    func snapshot(_ uploadID: String) throws -> StoreSnapshot {
        try database.readBlocking { try store.snapshot(uploadID: uploadID, in: $0) }
    }
}
