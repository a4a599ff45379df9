import Accounts
import Capability
import GatewayAPI
import Proto
import RPC
import TestSupport
import Testing

@testable import Uploads

@Suite(.timeLimited) struct ListUploadsTests {
    let scene: Scene

    init() throws {
        scene = try Scene()
    }

    private func list(
        organization: Int64 = 1, isSystem: Bool = false, size: Int32 = 0, token: String = ""
    ) async throws -> ListUploadsResponse {
        try await scene.management().listUploads(
            ListUploadsRequest(pageSize: size, pageToken: token),
            context: scene.context(
                UploadManagementServiceMethods.listUploads, by: "vera", .viewer, of: organization, isSystem: isSystem))
    }

    @Test func listedUploadsCountAcknowledgedBytes() async throws {
        let caller = try scene.device(1)
        let empty = try await caller.create()
        let moving = try await caller.create()
        try scene.initiate(moving.uploadID, parts: 3)
        let whole = try await scene.site(1).create()
        try scene.store(whole.uploadID, size: 1000)
        let uploads = try await list().uploads
        #expect(uploads.map(\.uploadID) == [whole.uploadID, moving.uploadID, empty.uploadID])
        #expect(uploads.map(\.storedBytes) == [1000, 3 * Scene.partSize, 0])
        #expect(uploads.map(\.partCount) == [0, 3, 0])
        #expect(uploads.map(\.isWhole) == [true, false, false])
        #expect(uploads.map(\.deviceID) == ["", "260101-000001", "260101-000001"])
        #expect(uploads.map(\.siteID) == [1, 1, 1])
        #expect(uploads.map(\.logicalUploadID).contains(moving.logicalUploadID))
    }

    @Test func endedUploadsAreNotListed() async throws {
        let caller = try scene.device(1)
        let aborted = try await caller.create()
        try await caller.abort(aborted.logicalUploadID)
        let completed = try await caller.create()
        try await caller.complete(try scene.store(completed.uploadID))
        let superseded = try await caller.create()
        let restarted = try await caller.create(restartFrom: superseded.uploadID)
        #expect(try await list().uploads.map(\.uploadID) == [restarted.uploadID])
    }

    @Test func eachOrganizationSeesItsOwn() async throws {
        let mine = try await scene.device(1).create()
        let others = try await scene.device(2, site: 3, organization: 2).create()
        #expect(try await list().uploads.map(\.uploadID) == [mine.uploadID])
        #expect(try await list(organization: 2).uploads.map(\.uploadID) == [others.uploadID])
        #expect(try await list(isSystem: true).uploads.count == 2)
    }

    @Test func pagesGoOnWhereTheOneBeforeEnded() async throws {
        let caller = try scene.device(1)
        var created: [String] = []
        for _ in 0..<5 { created.append(try await caller.create().uploadID) }
        var seen: [String] = []
        var token = ""
        repeat {
            let page = try await list(size: 2, token: token)
            seen += page.uploads.map(\.uploadID)
            token = page.nextPageToken
        } while !token.isEmpty && seen.count < 10
        #expect(seen == created.reversed())
        await #expect(throws: RPCError.self) { try await list(organization: 2, token: "AAAA") }
    }
}
