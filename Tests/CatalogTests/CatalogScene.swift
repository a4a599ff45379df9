import Accounts
import Basics
import Crypto
import Database
import Foundation
import GatewayAPI
import Proto
import RPC
import StoreProtocol
import Testing
import Wire

@testable import Catalog
@testable import ObjectStore

/// A catalog over a real database, in a folder of its own that goes with it; the clock is the test's.
final class CatalogScene: Sendable {
    let directory: URL
    let database: Database
    let store: ObjectStore
    let clock = ManualClock()
    let clockGuard: ClockGuard
    let service: ObjectService
    let management: ObjectManagementService
    let removal: ObjectRemoval
    let identifiers: Identifiers

    /// - Parameter calls: how the store reads and writes.
    init(visits: Int = 2000, calls: FileCalls = FileCalls()) throws {
        // What survives a crash is the database's and the store's to test, so that memory does here.
        let parent = FileManager.default.fileExists(atPath: "/dev/shm") ? "/dev/shm" : NSTemporaryDirectory()
        directory = URL(filePath: parent).appending(path: "catalog-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: directory, withIntermediateDirectories: true)
        database = try Database(
            path: directory.appending(path: "db").path,
            migrations: Accounts.migrations + ObjectStore.migrations + Catalog.migrations)
        let keyring = Keyring(root: Secret([UInt8](repeating: 1, count: 32)))
        var stored = ObjectStoreConfiguration()
        stored.calls = calls
        store = try ObjectStore(
            directory: directory.appending(path: "store").path, database: database, keyring: keyring, clock: clock,
            configuration: stored)
        identifiers = Identifiers(clock: clock)
        clockGuard = ClockGuard(clock: clock)
        removal = ObjectRemoval(database: database, store: store, clock: clock, batch: 3)
        management = ObjectManagementService(
            removal: removal, statistics: Statistics(database: database, clock: clock), database: database,
            tokens: PageTokens(keyring: keyring))
        var configuration = CatalogConfiguration()
        configuration.pageVisits = visits
        service = ObjectService(
            listing: ObjectListing(
                database: database, tokens: PageTokens(keyring: keyring), configuration: configuration),
            downloads: Downloads(
                database: database, store: store, endpoint: try StoreEndpoint("http://127.0.0.1:50080"), clock: clock,
                configuration: configuration))
        try database.writeBlocking { connection in
            for id in 1...2 {
                try connection.execute(
                    """
                    INSERT INTO organizations (id, name, display_name, kind, created_at, updated_at)
                    VALUES ($1, $2, $2, 1, 0, 0)
                    """, id, "organization-\(id)")
                try connection.execute(
                    """
                    INSERT INTO users (id, organization_id, name, role, password_hash, created_at, updated_at)
                    VALUES ($1, $1, 'boss', 'admin', '', 0, 0)
                    """, id)
            }
        }
    }

    /// To sweep with. The test's clock must be a confirmed one.
    var permit: DeletionPermit {
        get throws { try #require(clockGuard.permit()) }
    }

    deinit {
        database.close()
        try? FileManager.default.removeItem(at: directory)
    }

    /// Adds a verified object; its size is what tests tell it by.
    @discardableResult
    func add(
        size: Int64, organization: Int64 = 1, site: Int64 = 1, device: String? = nil, tags: [String: String] = [:]
    ) throws -> CatalogObject {
        let object = newObject(size: size, organization: organization, site: site, device: device)
        try database.writeBlocking { try ObjectRecords($0).insert(object, tags: tags) }
        return object
    }

    /// What ``add(size:organization:site:device:tags:)`` adds.
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
        let new = try store.data.create()
        let fileID = new.id
        try bytes.withUnsafeBytes { try new.sink.append(end: $0) }
        try new.sink.finish()
        var crc64 = CRC64()
        bytes.withUnsafeBytes { crc64.update($0) }
        let id = identifiers.uuid()
        let now = clock.now()
        let stored = StoredObject(
            bucket: "data", key: "uploads/\(id)", uploadID: "upload-\(id)", size: Int64(bytes.count), etag: "\"1\"",
            partCount: 0, crc64: crc64.value, createdAt: now, fileID: fileID, multipartID: nil, contentType: nil)
        let object = CatalogObject(
            id: id, fileID: fileID, uploadID: stored.uploadID,
            owner: ObjectOwner(organizationID: organization, siteID: 1, suiteID: nil, deviceID: nil),
            content: CatalogObject.Content(bucket: "data", key: stored.key, size: stored.size, etag: stored.etag),
            times: CatalogObject.Times(createdAt: now, uploadedAt: now, verifiedAt: now))
        try new.commit {
            try database.writeBlocking { connection in
                _ = try StoreRecords(connection).replaceObject(with: stored)
                try ObjectRecords(connection).insert(object, tags: ["run": "1"])
            }
        }
        return object
    }

    func path(_ fileID: String) -> String {
        directory.appending(path: "store/data/\(fileID.prefix(2))/\(fileID)").path
    }

    func audit() throws -> [String] {
        try database.readBlocking { connection in
            try connection.query("SELECT actor, organization, action, target, count FROM audit ORDER BY rowid") {
                "\($0.text(0)) \($0.text(1)) \($0.text(2)) \($0.text(3)) \($0.int(4))"
            }
        }
    }

    func user(_ organization: Int64 = 1, id: Int64? = nil, isSystem: Bool = false) -> UserPrincipal {
        UserPrincipal(
            userID: id ?? organization, name: "boss", role: .admin, epoch: 1,
            home: OrganizationReference(id: organization, name: "organization-\(organization)"), isSystem: isSystem)
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

    /// Every page, one after another.
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

/// The same numbers for the same seed: SplitMix64.
struct SeededGenerator: RandomNumberGenerator {
    private var state: UInt64

    init(seed: UInt64) {
        state = seed
    }

    mutating func next() -> UInt64 {
        state &+= 0x9E37_79B9_7F4A_7C15
        var mixed = state
        mixed = (mixed ^ (mixed >> 30)) &* 0xBF58_476D_1CE4_E5B9
        mixed = (mixed ^ (mixed >> 27)) &* 0x94D0_49BB_1331_11EB
        return mixed ^ (mixed >> 31)
    }
}
