import Accounts
import Basics
import Capability
import Catalog
import Database
import GatewayAPI
import GatewayTesting
import ObjectStore
import Proto
import RPC
import StoreProtocol
import TestSupport
import Testing
import Wire

@testable import Uploads

/// Users upload files for the sites of their organization.
@Suite(.timeLimited) struct SiteUploadTests {
    let scene: Scene

    init() throws {
        scene = try Scene()
        for organization in 1...2 {
            _ = try scene.rows.addUser("olga-\(organization)", role: .operator, organization: Int64(organization))
        }
    }

    private func context(_ method: MethodDescriptor, organization: Int64 = 1) -> CallContext {
        scene.context(method, by: "olga-\(organization)", .operator, of: organization)
    }

    private func create(
        site: Int64 = 1, name: String = "drive.mcap", size: Int64 = 1000, key: String = "", organization: Int64 = 1
    ) async throws -> CreateSiteUploadResponse {
        try await scene.management().createSiteUpload(
            CreateSiteUploadRequest(siteID: site, fileName: name, fileSizeBytes: size, idempotencyKey: key),
            context: context(UploadManagementServiceMethods.createSiteUpload, organization: organization))
    }

    private func get(_ uploadID: String, organization: Int64 = 1) async throws -> GetSiteUploadResponse {
        try await scene.management().getSiteUpload(
            GetSiteUploadRequest(uploadID: uploadID),
            context: context(UploadManagementServiceMethods.getSiteUpload, organization: organization))
    }

    private func issue(_ uploadID: String, organization: Int64 = 1) async throws -> UploadCredentials? {
        try await scene.management().issueSiteUploadCredentials(
            IssueSiteUploadCredentialsRequest(uploadID: uploadID),
            context: context(UploadManagementServiceMethods.issueSiteUploadCredentials, organization: organization)
        ).credentials
    }

    private func complete(
        _ stored: CompleteUploadRequest, tags: [String: String] = [:], organization: Int64 = 1
    ) async throws -> CompleteSiteUploadResponse {
        try await scene.management().completeSiteUpload(
            CompleteSiteUploadRequest(
                uploadID: stored.uploadID, fileSizeBytes: stored.fileSize, ossObjectEtag: stored.ossObjectEtag,
                completedPartCount: stored.completedPartCount, rawTags: tags),
            context: context(UploadManagementServiceMethods.completeSiteUpload, organization: organization))
    }

    private func decide(_ uploadID: String, epoch: Int64 = 0) throws -> AccessDecision {
        let location = try scene.record(uploadID).location
        let live = try scene.database.readBlocking { try UserRecords($0).find(id: 1)?.epoch ?? -1 }
        let claims = CredentialClaims(
            uploadID: uploadID, bucket: location.bucket, key: location.key, operations: [.read, .write],
            expiresAt: scene.clock.now().adding(seconds: 60), holder: .init(.user(id: 1, epoch: live + epoch), of: 1))
        return try scene.database.readBlocking { [policy = scene.policy] in try policy.decide(claims, in: $0) }
    }

    @Test func uploadBelongsToTheSiteAndBecomesAnObject() async throws {
        let upload = try await create()
        let record = try scene.record(upload.uploadID)
        #expect((record.owner.siteID, record.owner.deviceID) == (1, nil))
        #expect(upload.credentials?.objectKey == record.location.key)
        let stored = try scene.store(upload.uploadID, parts: 2)
        #expect(try await get(upload.uploadID).status == .completing)
        let fileID = try await complete(stored, tags: ["weather": "rain"]).fileID
        #expect(!fileID.isEmpty)
        let published = try await get(upload.uploadID)
        #expect((published.status, published.fileID) == (.completed, fileID))
        #expect(try await complete(stored, tags: ["weather": "rain"]).fileID == fileID)
    }

    @Test func storedPartsAreReturnedForAnInterruptedUpload() async throws {
        let upload = try await create(size: 10 * Scene.partSize)
        try scene.initiate(upload.uploadID)
        let multipart = try scene.initiate(upload.uploadID, parts: 3)
        let found = try await get(upload.uploadID)
        #expect((found.status, found.multipartUploadID, found.siteID) == (.active, multipart, 1))
        #expect(found.parts.map(\.number) == [1, 2, 3])
        #expect(found.parts.allSatisfy { $0.sizeBytes == Scene.partSize })
        #expect(found.ossObjectEtag.isEmpty)
    }

    @Test func sameKeyGivesTheSameUpload() async throws {
        let first = try await create(key: "one")
        #expect(try await create(key: "one").uploadID == first.uploadID)
        #expect(try await create(key: "two").uploadID != first.uploadID)
        await expectRefusal(.invalidArgument) { try await create(key: String(repeating: "k", count: 129)) }
    }

    @Test func partsAreLargerOnlyForFilesThatNeedIt() async throws {
        let service = try scene.management { $0.partSize = 64 << 20 }
        for (size, part) in [(Int64(0), Int64(8 << 20)), (10_000 * (8 << 20), 8 << 20), (1 << 40, 105 << 20)] {
            let upload = try await service.createSiteUpload(
                CreateSiteUploadRequest(siteID: 1, fileName: "a", fileSizeBytes: size),
                context: context(UploadManagementServiceMethods.createSiteUpload))
            #expect(upload.credentials?.partSizeBytes == part)
            #expect(part * 10_000 >= size)
        }
    }

    @Test func fileWithoutAUsableNameOrSizeIsRefused() async throws {
        for (name, size) in [("", Int64(1)), ("../..", 1), ("a", -1), ("a", (48 << 40) + 1)] {
            await expectRefusal(.invalidArgument) { try await create(name: name, size: size) }
        }
    }

    @Test func fileOfAFolderKeepsItsPath() async throws {
        let service = try scene.management()
        let create = { (path: String) in
            try await service.createSiteUpload(
                CreateSiteUploadRequest(siteID: 1, fileName: "front.mp4", fileSizeBytes: 10, relativePath: path),
                context: self.context(UploadManagementServiceMethods.createSiteUpload))
        }
        let upload = try await create("run7/cameras/front.mp4")
        #expect(try scene.record(upload.uploadID).hints.relativePath?.text == "run7/cameras/front.mp4")
        let stored = try scene.store(upload.uploadID)
        let fileID = try await complete(stored).fileID
        let object = try scene.database.readBlocking { try ObjectRecords($0).object(uploadID: upload.uploadID) }
        #expect(object?.fileID == fileID && object?.description.relativePath?.text == "run7/cameras/front.mp4")
        for path in ["/run7/front.mp4", "../front.mp4", "run7//front.mp4"] {
            let refusal = await #expect(throws: RPCError.self) { _ = try await create(path) }
            #expect(refusal?.message.hasPrefix("relative_path must be a relative path") == true)
        }
    }

    @Test func sitesAndUploadsOfOtherOrganizationsAreNotFound() async throws {
        let refusal = await #expect(throws: RPCError.self) { _ = try await create(site: 3) }
        #expect(refusal?.status == .notFound)
        let upload = try await create()
        let stored = try scene.store(upload.uploadID)
        await expectRefusal(.uploadNotFound) { try await get(upload.uploadID, organization: 2) }
        await expectRefusal(.uploadNotFound) { try await issue(upload.uploadID, organization: 2) }
        await expectRefusal(.uploadNotFound) { try await complete(stored, organization: 2) }
        #expect(try scene.record(upload.uploadID).state == .current)
    }

    @Test func uploadOfADeviceIsRefused() async throws {
        let upload = try await scene.device(1).create()
        let stored = try scene.store(upload.uploadID)
        await expectRefusal(.uploadNotOwned) { try await get(upload.uploadID) }
        await expectRefusal(.uploadNotOwned) { try await issue(upload.uploadID) }
        await expectRefusal(.uploadNotOwned) { try await complete(stored) }
    }

    @Test func credentialsEndWithTheUsersAccess() async throws {
        let upload = try await create()
        #expect(try decide(upload.uploadID) == .allowed(partSize: Scene.partSize, needsActivity: true))
        #expect(try decide(upload.uploadID, epoch: 1) == .denied)
        #expect(try await issue(upload.uploadID)?.stsSecurityToken.isEmpty == false)
    }

    @Test func disabledSiteStopsItsUploads() async throws {
        let upload = try await create()
        let stored = try scene.store(upload.uploadID)
        try scene.rows.disableSite(1, named: "site-1")
        #expect(try decide(upload.uploadID) == .denied)
        await expectRefusal(.failedPrecondition) { try await create() }
        await expectRefusal(.failedPrecondition) { try await issue(upload.uploadID) }
        await expectRefusal(.failedPrecondition) { try await complete(stored) }
        #expect(try scene.record(upload.uploadID).state == .current)
    }

    @Test func endedUploadCannotContinue() async throws {
        let upload = try await create()
        scene.clock.advance(seconds: 2 * 86_400)
        #expect(try await get(upload.uploadID).status == .terminal)
        await expectRefusal(.uploadNotRefreshable) { try await issue(upload.uploadID) }
        #expect(try decide(upload.uploadID) == .noSuchUpload)
    }
}
