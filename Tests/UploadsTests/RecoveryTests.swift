import Basics
import GatewayFormats
import Proto
import RPC
import TestSupport
import Testing

@testable import Uploads

/// GetUploadRecovery over a real database and store.
@Suite(.timeLimited) struct RecoveryTests {
    let scene: Scene
    let device: Caller

    init() throws {
        scene = try Scene()
        device = try scene.device()
    }

    private func expect(
        _ logicalID: String, _ status: LogicalUploadStatus, _ action: UploadRecoveryAction,
        sourceLocation: SourceLocation = #_sourceLocation
    ) async throws {
        let reply = try await device.recovery(logicalID)
        #expect(reply.logicalUploadStatus == status, sourceLocation: sourceLocation)
        #expect(reply.nextAction == action, sourceLocation: sourceLocation)
    }

    @Test func newUploadIsActiveAndContinues() async throws {
        let created = try await device.create()
        let reply = try await device.recovery(created.logicalUploadID)
        #expect(reply.logicalUploadStatus == .active && reply.nextAction == .continue)
        #expect(reply.currentUploadID == created.uploadID)
        #expect(reply.bucket == created.credentials?.bucket)
        #expect(reply.endpoint == created.credentials?.endpoint)
        #expect(reply.objectKey == created.credentials?.objectKey)
        #expect(reply.canRefreshCredentials && reply.restartAllowed)
        #expect(reply.sessionExpireAtUnix == scene.clock.now().seconds + 86_400)
        #expect(reply.terminalReason.isEmpty && reply.ossObjectEtag.isEmpty && reply.completedPartCount == 0)
    }

    @Test func recoveryFollowsFromTheStoredParts() async throws {
        let created = try await device.create()
        try scene.initiate(created.uploadID)
        try await expect(created.logicalUploadID, .active, .restart)
        try scene.initiate(created.uploadID, parts: 1)
        try await expect(created.logicalUploadID, .active, .continue)
        try scene.store(created.uploadID, parts: 3)
        try await expect(created.logicalUploadID, .completing, .completeOnly)
        let reply = try await device.recovery(created.logicalUploadID)
        #expect(reply.ossObjectEtag == "\"ABCDEF0123456789ABCDEF0123456789-3\"" && reply.completedPartCount == 3)
    }

    @Test func anObjectPutWholeIsNotYetCompleting() async throws {
        let created = try await device.create()
        try scene.store(created.uploadID)
        try await expect(created.logicalUploadID, .active, .continue)
    }

    @Test func lostPartRequiresARestart() async throws {
        let created = try await device.create()
        try scene.initiate(created.uploadID, parts: 2, isLost: true)
        try await expect(created.logicalUploadID, .active, .restart)
    }

    @Test func aRestartIsUntouchedUntilTheDataPlaneIsAsked() async throws {
        let first = try await device.create()
        let second = try await device.create(restartFrom: first.uploadID)
        try await expect(first.logicalUploadID, .active, .restart)
        #expect(try await device.recovery(first.logicalUploadID).currentUploadID == second.uploadID)
        try scene.touch(second.uploadID, by: device)
        try await expect(first.logicalUploadID, .active, .continue)
    }

    @Test func completedSaysWhatToRepeat() async throws {
        let created = try await device.create()
        let request = try scene.store(created.uploadID, parts: 2)
        try await device.complete(request)
        try await expect(created.logicalUploadID, .completed, .completeOnly)
        let reply = try await device.recovery(created.logicalUploadID)
        #expect(reply.ossObjectEtag == request.ossObjectEtag && reply.completedPartCount == 2)
        #expect(!reply.restartAllowed && reply.canRefreshCredentials)
    }

    @Test func abortedSaysWhy() async throws {
        let created = try await device.create()
        try scene.store(created.uploadID, parts: 2)
        try await device.abort(created.logicalUploadID, reason: "the operator said so")
        try await expect(created.logicalUploadID, .terminal, .abort)
        let reply = try await device.recovery(created.logicalUploadID)
        #expect(reply.terminalReason == "the operator said so")
        #expect(!reply.restartAllowed && !reply.canRefreshCredentials)
    }

    @Test func uploadAtAFormerEndpointRestarts() async throws {
        let part = try await device.create()
        try scene.initiate(part.uploadID, parts: 1)
        let whole = try await device.create()
        try scene.store(whole.uploadID, parts: 1)
        let moved = try device.at(scene.service(endpoint: "http://127.0.0.2:50080"))
        #expect(try await moved.recovery(part.logicalUploadID).nextAction == .restart)
        await expectRefusal(.uploadNotRefreshable) { try await moved.reissue(part.uploadID) }
        #expect(try await moved.recovery(whole.logicalUploadID).nextAction == .completeOnly)
        #expect(try await moved.reissue(whole.uploadID).credentials?.endpoint == Scene.endpoint)
    }

    @Test func unknownIDsAreNotFound() async throws {
        for id in ["", "nonsense", String(repeating: "0", count: 5000)] {
            await expectRefusal(.uploadNotFound) { try await device.recovery(id) }
        }
    }
}
