import Basics
import Database
import GatewayFormats
import ObjectStore
import Proto
import RPC
import TestSupport
import Testing

@testable import Uploads

/// Random sequences of events on uploads, from seeds; the results of all calls must be consistent.
@Suite(.timeLimited) struct ModelTests {
    /// A client without a memory, which does what it is told.
    struct Client {
        let scene: Scene
        let device: Caller
        let logicalID: String

        /// - Returns: whether nothing is left to do.
        func step() async throws -> Bool {
            let reply = try await device.recovery(logicalID)
            switch reply.nextAction {
            case .continue:
                _ = try await device.reissue(reply.currentUploadID)
                try scene.touch(reply.currentUploadID, by: device)
                try scene.store(reply.currentUploadID, parts: 2)
            case .completeOnly:
                _ = try await device.reissue(reply.currentUploadID)
                try await device.complete(
                    CompleteUploadRequest(
                        uploadID: reply.currentUploadID, fileSize: 1000, completedPartCount: reply.completedPartCount,
                        ossObjectEtag: reply.ossObjectEtag))
                return true
            case .restart:
                let restarted = try await device.create(restartFrom: reply.currentUploadID)
                try scene.touch(restarted.uploadID, by: device)
            case .abort:
                try await device.abort(logicalID)
                return true
            case .unspecified, .unrecognized:
                Issue.record("no action")
                return true
            }
            return false
        }
    }

    private func happen(
        to uploadID: String, _ client: Client, _ generator: inout SeededGenerator
    ) async throws {
        let (scene, device) = (client.scene, client.device)
        switch Int.random(in: 0..<10, using: &generator) {
        case 0: try scene.touch(uploadID, by: device)
        case 1 where try scene.record(uploadID).state == .current: try scene.initiate(uploadID)
        case 2 where try scene.record(uploadID).state == .current: try scene.initiate(uploadID, parts: 2)
        case 3 where try scene.record(uploadID).state == .current: try scene.store(uploadID)
        case 4 where try scene.record(uploadID).state == .current: try scene.store(uploadID, parts: 3)
        case 5: _ = try? await device.create(restartFrom: uploadID)
        case 6: scene.clock.advance(seconds: [10, 500, 1000, 6000].randomElement(using: &generator) ?? 0)
        case 7: _ = try await scene.uploads.sweep(scene.permit)
        case 8: _ = try? await device.complete(CompleteUploadRequest(uploadID: uploadID, fileSize: 1))
        default: _ = try await client.step()
        }
    }

    /// Compares the result of recovery with the effects of the other calls.
    private func check(_ client: Client) async throws {
        let (scene, device) = (client.scene, client.device)
        let reply = try await device.recovery(client.logicalID)
        let id = reply.currentUploadID
        let decision = try scene.decide(id, by: device)
        switch reply.nextAction {
        case .continue: if case .allowed = decision {} else { Issue.record("\(decision) for \(reply)") }
        case .completeOnly: #expect(decision != .denied && decision != .noSuchUpload)
        case .abort: #expect(decision == .noSuchUpload)
        default: break
        }
        if reply.canRefreshCredentials {
            _ = try await device.reissue(id)
        } else {
            await expectRefusal(.uploadNotRefreshable) { try await device.reissue(id) }
        }
        if !reply.restartAllowed {
            await expectRefusal(.failedPrecondition) { try await device.create(restartFrom: id) }
        }
    }

    @Test(arguments: 1...24) func everyUploadComesToItsEnd(_ seed: UInt64) async throws {
        var generator = SeededGenerator(seed: seed)
        let scene = try Scene {
            $0.sessionIdle = .seconds(1000)
            $0.sessionTotal = .seconds(5000)
            $0.wholeObjectGrace = .seconds(1000)
        }
        let device = try scene.device()
        let first = try await device.create()
        let client = Client(scene: scene, device: device, logicalID: first.logicalUploadID)
        var ids = [first.uploadID]
        for _ in 0..<30 {
            try await happen(to: ids.randomElement(using: &generator) ?? "", client, &generator)
            let current = try await device.recovery(client.logicalID).currentUploadID
            if !ids.contains(current) { ids.append(current) }
            try await check(client)
        }
        if seed % 4 == 0 { try await device.abort(client.logicalID) }
        var steps = 0
        while try await !client.step() {
            steps += 1
            try #require(steps < 4, "the client goes round in circles")
        }
        // The response was lost, and the call is repeated.
        #expect(try await client.step())

        let status = try await device.recovery(client.logicalID).logicalUploadStatus
        let objects = try scene.database.readBlocking { try $0.query("SELECT upload_id FROM objects") { $0.text(0) } }
        #expect(objects.count == (status == .completed ? 1 : 0))
        for id in ids where !objects.contains(id) {
            let snapshot = try scene.snapshot(id)
            #expect(snapshot.object == nil && snapshot.multiparts.isEmpty)
        }
    }
}
