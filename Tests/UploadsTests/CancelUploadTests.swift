import Accounts
import Capability
import GatewayAPI
import ObjectStore
import Proto
import RPC
import TestSupport
import Testing

@testable import Uploads

/// Operators abort uploads of their organization.
@Suite(.timeLimited) struct CancelUploadTests {
    let scene: Scene

    init() throws {
        scene = try Scene()
    }

    private func cancel(
        _ id: String, reason: String = "", organization: Int64 = 1
    ) async throws -> CancelUploadResponse {
        try await scene.management().cancelUpload(
            CancelUploadRequest(logicalUploadID: id, reason: reason),
            context: scene.context(
                UploadManagementServiceMethods.cancelUpload, by: "olga", .operator, of: organization))
    }

    @Test func canceledUploadIsAbortedAndItsDataRemoved() async throws {
        let device = try scene.device(1)
        let upload = try await device.create()
        try scene.initiate(upload.uploadID, parts: 2)
        #expect(try await cancel(upload.logicalUploadID).uploadID == upload.uploadID)
        #expect(try scene.record(upload.uploadID).state == .aborted)
        #expect(try scene.record(upload.uploadID).abortReason == "canceled by olga")
        #expect(try scene.snapshot(upload.uploadID).multiparts.isEmpty)
        #expect(try await device.recovery(upload.logicalUploadID).logicalUploadStatus == .terminal)
    }

    @Test func attemptStandsForItsLogicalUploadAndRepetitionChangesNothing() async throws {
        let upload = try await scene.device(1).create()
        #expect(try await cancel(upload.uploadID, reason: "a mistake").logicalUploadID == upload.logicalUploadID)
        _ = try await cancel(upload.uploadID, reason: "another")
        #expect(try scene.record(upload.uploadID).abortReason == "a mistake")
    }

    @Test func completedUploadIsRefused() async throws {
        let device = try scene.device(1)
        let upload = try await device.create()
        try await device.complete(try scene.store(upload.uploadID))
        await expectRefusal(.failedPrecondition) { try await cancel(upload.logicalUploadID) }
        #expect(try scene.record(upload.uploadID).state == .completed)
    }

    @Test func otherOrganizationsAndUnknownUploadsAreNotFound() async throws {
        let upload = try await scene.device(1).create()
        for (id, organization) in [(upload.logicalUploadID, Int64(2)), ("unknown", 1)] {
            await expectRefusal(.uploadNotFound) { try await cancel(id, organization: organization) }
        }
        #expect(try scene.record(upload.uploadID).state == .current)
    }
}
