import Accounts
import Basics
import Capability
import Checksums
import Crypto
import Database
import GatewayAPI
import GatewayTesting
import Proto
import RPC
import StoreProtocol
import StoreTesting
import TestSupport
import Testing
import TimeZones
import Webhooks
import Wire

@testable import Catalog
@testable import DirectoryEngine
@testable import ObjectStore

/// A catalog over a real database, in a temporary folder; the test controls the clock.
final class CatalogScene: Sendable {
    private let base: TestDatabase
    let store: ObjectStore
    let clock = ManualClock()
    let clockGuard: ClockGuard
    let service: ObjectService
    let management: ObjectManagementService
    let removal: ObjectRemoval
    let bulkOperations: BulkOperations
    let identifiers: Identifiers

    /// - Parameters:
    ///   - calls: the file operations of the store.
    ///   - isShared: see `TestDatabase`.
    init(
        visits: Int = 2000, calls: FileCalls = FileCalls(), devices: any DeviceDirectory = OneDevice(),
        isShared: Bool = false
    ) throws {
        let names = DisplayNameSearch(devices: devices)
        base = try TestDatabase(
            Accounts.migrations + ObjectStore.migrations + Catalog.migrations, isShared: isShared)
        let database = base.database
        let keyring = Keyring(root: Secret([UInt8](repeating: 1, count: 32)))
        var files = DirectoryConfiguration()
        files.calls = calls
        store = try ObjectStore(
            engine: TestEngine.make(base.folder.path + "/store", files), database: database, keyring: keyring,
            clock: clock)
        identifiers = Identifiers(clock: clock)
        clockGuard = ClockGuard(clock: clock)
        removal = ObjectRemoval(database: database, store: store, clock: clock, batch: 3)
        bulkOperations = BulkOperations(
            database: database, clock: clock, identifiers: identifiers,
            runner: OperationRunner(
                database: database, removal: removal, clock: clock, log: .discarding), zones: .system)
        management = ObjectManagementService(
            removal: removal, bulkOperations: bulkOperations,
            tagEditing: TagEditing(database: database, clock: clock, outbox: .closed),
            statistics: Statistics(database: database, clock: clock),
            storageUse: StorageUse(database: database, devices: devices), database: database,
            tokens: PageTokens(keyring: keyring),
            facets: ObjectFacets(database: database, clock: clock, devices: devices, names: names),
            savedSearches: SavedSearches(database: database, clock: clock), zones: .system)
        var configuration = CatalogConfiguration()
        configuration.pageVisits = visits
        service = ObjectService(
            listing: ObjectListing(
                database: database, tokens: PageTokens(keyring: keyring), clock: clock,
                names: names, configuration: configuration, zones: .system),
            downloads: Downloads(
                database: database, store: store, endpoint: try StoreEndpoint("http://127.0.0.1:50080"), clock: clock,
                configuration: configuration))
        let rows = AccountRows(database)
        for name in ["organization-1", "organization-2"] {
            try rows.addUser("boss", role: .admin, organization: try rows.addOrganization(name))
        }
    }

    var database: Database { base.database }
    /// The calls of the database.
    var databaseCalls: CallCounter { base.calls }

    /// A permit for sweeps. The test's clock must be confirmed.
    var permit: DeletionPermit {
        get throws { try #require(clockGuard.permit()) }
    }

    /// Adds a verified object, which tests identify by its size.
    @discardableResult
    func add(
        size: Int64, organization: Int64 = 1, site: Int64 = 1, device: String? = nil, tags: [String: String] = [:]
    ) throws -> CatalogObject {
        let object = newObject(size: size, organization: organization, site: site, device: device)
        try database.writeBlocking { try ObjectRecords($0).insert(object, tags: tags) }
        return object
    }

    /// Adds topics to a recording, `/topic-1000` and the next ones.
    func addTopics(_ count: Int, to object: CatalogObject, suffix: String = "") throws {
        try database.writeBlocking { connection in
            for number in 1000..<1000 + count {
                try connection.execute(
                    "INSERT INTO object_topics (position, topic) SELECT position, $2 FROM objects WHERE id = $1",
                    object.id,
                    "/topic-\(number)\(suffix)")
            }
        }
    }

    /// Returns the object that ``add(size:organization:site:device:tags:)`` adds.
    func newObject(
        size: Int64, organization: Int64 = 1, site: Int64 = 1, device: String? = nil
    ) -> CatalogObject {
        let id = identifiers.uuid()
        let now = clock.now()
        return CatalogObject(
            id: id, fileID: "file-\(id)", uploadID: "upload-\(id)",
            owner: ObjectOwner(organizationID: organization, siteID: site, suiteID: nil, deviceID: device),
            content: CatalogObject.Content(bucket: "data", key: "uploads/\(id)", size: size, etag: "\"\(size)\""),
            times: CatalogObject.Times(
                createdAt: now, uploadedAt: now.adding(seconds: 1), verifiedAt: now.adding(seconds: 2)))
    }

    /// Adds a verified object with its bytes in the store.
    @discardableResult
    func add(bytes: [UInt8], organization: Int64 = 1) throws -> CatalogObject {
        let new = try store.engine.create(length: Int64(bytes.count))
        let fileID = new.id
        try new.sink.receive(bytes)
        var crc64 = CRC64()
        bytes.withUnsafeBytes { crc64.update($0) }
        let id = identifiers.uuid()
        let now = clock.now()
        let stored = StoredObject(
            StoredObject.Place(bucket: "data", key: "uploads/\(id)", uploadID: "upload-\(id)"),
            StoredObject.Content(size: Int64(bytes.count), etag: "\"1\"", crc64: crc64.value), fileID: fileID,
            createdAt: now)
        let object = CatalogObject(
            id: id, fileID: fileID, uploadID: stored.uploadID,
            owner: ObjectOwner(organizationID: organization, siteID: 1, suiteID: nil, deviceID: nil),
            content: CatalogObject.Content(bucket: "data", key: stored.key, size: stored.size, etag: stored.etag),
            times: CatalogObject.Times(createdAt: now, uploadedAt: now, verifiedAt: now))
        try new.commit {
            try database.writeBlocking { [engine = store.engine] connection in
                try engine.record(fileID, FileContent(size: stored.size, crc64: stored.crc64), in: connection)
                _ = try StoreRecords(connection).replaceObject(with: stored)
                try ObjectRecords(connection).insert(object, tags: ["run": "1"])
            }
        }
        return object
    }

    func path(_ fileID: String) -> String {
        base.folder.path + "/store/data/\(fileID.prefix(2))/\(fileID)"
    }

    /// Returns the audit log with a text for each line: actor, organization, action, target, count.
    func audit() throws -> [String] {
        try AccountRows(database).audit().map { line in
            "\(line.actor) \(line.organization?.name ?? "") \(line.action) \(line.target) \(line.count)"
        }
    }

    func user(_ organization: Int64 = 1, id: Int64? = nil, isSystem: Bool = false) -> UserPrincipal {
        UserPrincipal(
            userID: id ?? organization, name: "boss", role: .admin, epoch: 1,
            home: OrganizationReference(id: organization, name: "organization-\(organization)"), isSystem: isSystem)
    }

    func context(_ method: MethodDescriptor, as user: UserPrincipal? = nil) -> CallContext {
        CallContext(method: method, identity: Principal.user(user ?? self.user()))
    }

    /// Returns the user `boss` of organization 1, as the caller of DeleteObject.
    func caller() throws -> Caller { try Caller(context(ObjectManagementServiceMethods.deleteObject)) }

    func setTrash(days: Int32, organization: Int64 = 1) throws {
        try database.writeBlocking {
            try ObjectRecords($0).setTrashGrace(TrashGrace(days: days), organizationID: organization)
        }
    }

    func setRetention(days: Int32, organization: Int64 = 1) throws {
        try database.writeBlocking {
            try ObjectRecords($0).setRetentionRules(
                RetentionRules(days: days, rules: []), organizationID: organization, keepsRules: true)
        }
    }

    func list(
        _ filter: String = "", size: Int32 = 0, token: String = "", as user: UserPrincipal? = nil
    ) async throws -> ListObjectsResponse {
        try await service.listObjects(
            ListObjectsRequest(pageSize: size, pageToken: token, filter: filter),
            context: CallContext(
                method: DataGatewayObjectServiceMethods.listObjects, identity: Principal.user(user ?? self.user())))
    }

    func sizes(_ filter: String = "", size: Int32 = 0, as user: UserPrincipal? = nil) async throws -> [Int64] {
        try await list(filter, size: size, as: user).objects.map(\.sizeBytes)
    }

    /// Returns the sizes on all pages, in order.
    func walk(_ filter: String, size: Int32, between: () throws -> Void = {}) async throws -> [Int64] {
        var sizes: [Int64] = []
        var token = ""
        repeat {
            try #require(sizes.count < 10_000, "the walk does not end")
            let page = try await list(filter, size: size, token: token)
            sizes += page.objects.map(\.sizeBytes)
            token = page.nextPageToken
            try between()
        } while !token.isEmpty
        return sizes
    }

    func download(_ fileIDs: [String], as user: UserPrincipal? = nil) async throws -> RequestDownloadResponse {
        try await service.requestDownload(
            RequestDownloadRequest(fileIDs: fileIDs),
            context: CallContext(
                method: DataGatewayObjectServiceMethods.requestDownload, identity: Principal.user(user ?? self.user())))
    }
}
