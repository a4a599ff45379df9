import Accounts
import Catalog
import Database
import Foundation
import Platform
import Proto
import RPC
import Testing
import Wire

@testable import ObjectStore
@testable import Uploads

/// Uploads over a real database and store, in a folder of its own that goes with it; the clock is the test's.
final class Scene: Sendable {
    static let endpoint = "http://127.0.0.1:50080"
    static let partSize: Int64 = 65_536

    let directory: URL
    let database: Database
    let store: ObjectStore
    let clock = ManualClock()
    let identifiers: Identifiers
    let configuration: UploadConfiguration
    let uploads: Uploads

    init(_ configure: (inout UploadConfiguration) -> Void = { _ in }) throws {
        // What survives a crash is the database's and the store's to test, so that memory does here.
        let parent = FileManager.default.fileExists(atPath: "/dev/shm") ? "/dev/shm" : NSTemporaryDirectory()
        directory = URL(filePath: parent).appending(path: "uploads-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: directory, withIntermediateDirectories: true)
        database = try Database(
            path: directory.appending(path: "db").path,
            migrations: Accounts.migrations + ObjectStore.migrations + Catalog.migrations + Uploads.migrations)
        store = try ObjectStore(
            directory: directory.appending(path: "store").path, database: database,
            keyring: Keyring(root: Secret([UInt8](repeating: 1, count: 32))), clock: clock)
        identifiers = Identifiers(clock: clock)
        var configuration = UploadConfiguration()
        configuration.partSize = Self.partSize
        configure(&configuration)
        self.configuration = configuration
        uploads = try Uploads(
            database: database, store: store, endpoint: StoreEndpoint(Self.endpoint), clock: clock,
            identifiers: identifiers, configuration: configuration)
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
        store.drainRemovals()
        database.close()
        try? FileManager.default.removeItem(at: directory)
    }

    /// A gateway that was started again, with what its configuration became.
    func service(
        endpoint: String = Scene.endpoint, _ configure: (inout UploadConfiguration) -> Void = { _ in }
    ) throws -> UploadService {
        var configuration = configuration
        configure(&configuration)
        return UploadService(
            sessions: UploadSessions(
                database: database, store: store, endpoint: try StoreEndpoint(endpoint), clock: clock,
                identifiers: identifiers, configuration: configuration))
    }

    var policy: StoreAccessPolicy {
        StoreAccessPolicy(store: store, clock: clock, configuration: configuration)
    }

    /// A device of site 1 with a live key, unless said otherwise.
    func device(
        _ number: Int = 1, site: Int64 = 1, organization: Int64 = 1, key: String? = nil
    ) throws -> Caller {
        let id = "260101-00000\(number)"
        let key = APIKeyReference(id: key ?? "key-\(id)", epoch: 1)
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
                    siteID: id, organizationID: organization, key: APIKeyReference(id: "site-key-\(id)", epoch: 1))))
    }

    func record(_ uploadID: String) throws -> UploadRecord {
        try #require(try database.read { try UploadRecords($0).upload(uploadID) })
    }

    func snapshot(_ uploadID: String) throws -> StoreSnapshot {
        try database.read { try store.snapshot(uploadID: uploadID, in: $0) }
    }
}

/// A device or site that calls DataGatewayService.
struct Caller: Sendable {
    let scene: Scene
    let service: UploadService
    let principal: Principal

    init(scene: Scene, principal: Principal, service: UploadService? = nil) throws {
        self.scene = scene
        self.principal = principal
        self.service = try service ?? scene.service()
    }

    /// The same caller at a gateway that was started again.
    func at(_ service: UploadService) throws -> Caller {
        try Caller(scene: scene, principal: principal, service: service)
    }

    private func context(_ method: MethodDescriptor) -> CallContext {
        CallContext(method: method, identity: principal)
    }

    func create(restartFrom: String = "") async throws -> CreateLogicalUploadResponse {
        try await service.createLogicalUpload(
            CreateLogicalUploadRequest(restartFromUploadID: restartFrom),
            context: context(DataGatewayServiceMethods.createLogicalUpload))
    }

    func recovery(_ logicalID: String) async throws -> GetUploadRecoveryResponse {
        try await service.getUploadRecovery(
            GetUploadRecoveryRequest(logicalUploadID: logicalID),
            context: context(DataGatewayServiceMethods.getUploadRecovery))
    }

    func reissue(_ uploadID: String) async throws -> ReissueUploadCredentialsResponse {
        try await service.reissueUploadCredentials(
            ReissueUploadCredentialsRequest(uploadID: uploadID),
            context: context(DataGatewayServiceMethods.reissueUploadCredentials))
    }

    @discardableResult
    func abort(_ logicalID: String, reason: String = "no more needed") async throws -> AbortUploadResponse {
        try await service.abortUpload(
            AbortUploadRequest(logicalUploadID: logicalID, reason: reason),
            context: context(DataGatewayServiceMethods.abortUpload))
    }

    func complete(_ request: CompleteUploadRequest) async throws {
        _ = try await service.completeUpload(request, context: context(DataGatewayServiceMethods.completeUpload))
    }
}

/// Rows such as the store writes them; the bytes are left out.
extension Scene {
    @discardableResult
    func initiate(_ uploadID: String, parts: Int = 0, isLost: Bool = false) throws -> String {
        let id = identifiers.uuid()
        let location = try record(uploadID).location
        let now = clock.now()
        try database.writeBlocking { connection in
            let records = StoreRecords(connection)
            try records.insert(
                MultipartRecord(
                    id: id, uploadID: uploadID, bucket: location.bucket, key: location.key, fileID: "file-\(id)",
                    partSize: location.partSize, contentType: nil, createdAt: now, isCompleted: false, isLost: false))
            for number in 0..<parts {
                try records.put(
                    PartRecord(
                        number: number + 1, size: location.partSize, md5: Array(repeating: 1, count: 16), crc64: 0,
                        fileID: nil, storedAt: now),
                    of: id)
            }
            if isLost { try connection.execute("UPDATE store_multiparts SET lost = 1 WHERE id = $1", id) }
        }
        return id
    }

    /// The object put whole (`parts` 0) or completed from parts.
    @discardableResult
    func store(_ uploadID: String, size: Int64 = 1000, parts: Int = 0) throws -> CompleteUploadRequest {
        let location = try record(uploadID).location
        let multipart = parts == 0 ? nil : try initiate(uploadID, parts: parts)
        let etag = parts == 0 ? "\"0123456789ABCDEF0123456789ABCDEF\"" : "\"ABCDEF0123456789ABCDEF0123456789-\(parts)\""
        let object = StoredObject(
            bucket: location.bucket, key: location.key, uploadID: uploadID, size: size, etag: etag, partCount: parts,
            crc64: 1, createdAt: clock.now(), fileID: "object-\(uploadID)", multipartID: multipart, contentType: nil)
        try database.writeBlocking { connection in
            if let multipart { try StoreRecords(connection).markCompleted(multipart) }
            _ = try StoreRecords(connection).replaceObject(with: object)
        }
        return CompleteUploadRequest(
            uploadID: uploadID, fileSize: size, completedPartCount: Int32(parts), ossObjectEtag: etag,
            partSizeBytes: location.partSize)
    }

    /// A data-plane request, as the store passes one on.
    @discardableResult
    func touch(_ uploadID: String, by caller: Caller) throws -> AccessDecision {
        let decision = try decide(uploadID, by: caller)
        switch decision {
        case .allowed(_, true), .readOnly(true):
            let now = clock.now()
            try database.writeBlocking { [policy] in try policy.recordActivity(uploadID: uploadID, at: now, in: $0) }
        case .allowed, .readOnly, .denied, .noSuchUpload: break
        }
        return decision
    }

    func decide(_ uploadID: String, by caller: Caller) throws -> AccessDecision {
        let key: APIKeyReference =
            switch caller.principal {
            case .device(let device): device.key
            case .site(let site): site.key
            case .user: APIKeyReference(id: "", epoch: 0)
            }
        let claims = CredentialClaims(
            uploadID: uploadID, bucket: configuration.bucket, key: "key", operations: [.read, .write],
            expiresAt: clock.now().adding(seconds: 60), subject: .apiKey(id: key.id, epoch: key.epoch))
        return try database.read { try policy.decide(claims, in: $0) }
    }
}

/// Expects the call to be refused with the detail code.
func expectRefusal(
    _ code: DetailCode, sourceLocation: SourceLocation = #_sourceLocation, _ call: () async throws -> some Any
) async {
    let error = await #expect(throws: RPCError.self, sourceLocation: sourceLocation) { _ = try await call() }
    #expect(error?.detail == code, sourceLocation: sourceLocation)
}
