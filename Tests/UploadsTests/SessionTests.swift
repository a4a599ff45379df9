import Basics
import GatewayFormats
import Proto
import RPC
import TestSupport
import Testing

@testable import ObjectStore
@testable import Uploads

/// The end, the prolongation and the sweep of sessions.
@Suite(.timeLimited) struct SessionTests {
    let scene: Scene
    let device: Caller

    init() throws {
        scene = try Scene {
            $0.sessionIdle = .seconds(1000)
            $0.sessionTotal = .seconds(5000)
            $0.wholeObjectGrace = .seconds(300)
        }
        device = try scene.device()
    }

    @Test func sessionEndsAfterItsIdleTime() async throws {
        let (nothing, put, part, whole) = (
            try await device.create(), try await device.create(), try await device.create(), try await device.create()
        )
        try scene.store(put.uploadID)
        try scene.initiate(part.uploadID, parts: 1)
        let request = try scene.store(whole.uploadID, parts: 1)
        scene.clock.advance(seconds: 1000)
        for upload in [nothing, put, part] {
            let reply = try await device.recovery(upload.logicalUploadID)
            #expect(reply.logicalUploadStatus == .active && reply.nextAction == .restart)
            #expect(reply.restartAllowed && !reply.canRefreshCredentials)
            await expectRefusal(.uploadNotRefreshable) { try await device.reissue(upload.uploadID) }
            #expect(try scene.decide(upload.uploadID, by: device) == .noSuchUpload)
        }
        #expect(try await device.recovery(whole.logicalUploadID).nextAction == .completeOnly)
        _ = try await device.reissue(whole.uploadID)
        #expect(try scene.decide(whole.uploadID, by: device) == .readOnly(needsActivity: false))
        try await device.complete(request)
        #expect(try await device.recovery(whole.logicalUploadID).logicalUploadStatus == .completed)
    }

    @Test func activityOfBothPlanesMovesTheEnd() async throws {
        let created = try await device.create()
        let start = scene.clock.now().seconds
        scene.clock.advance(seconds: 900)
        try scene.touch(created.uploadID, by: device)
        #expect(try scene.record(created.uploadID).sessionEndsAt.seconds == start + 1900)
        scene.clock.advance(seconds: 900)
        _ = try await device.reissue(created.uploadID)
        #expect(try scene.record(created.uploadID).sessionEndsAt.seconds == start + 2800)
        scene.clock.advance(seconds: 900)
        #expect(try await device.recovery(created.logicalUploadID).nextAction == .continue)
        #expect(try scene.record(created.uploadID).sessionEndsAt.seconds == start + 3700)
    }

    @Test func activityDoesNotExtendTheTotal() async throws {
        let created = try await device.create()
        let start = scene.clock.now().seconds
        for _ in 0..<6 {
            scene.clock.advance(seconds: 800)
            try scene.touch(created.uploadID, by: device)
        }
        #expect(try scene.record(created.uploadID).sessionEndsAt.seconds == start + 5000)
        scene.clock.advance(seconds: 200)
        #expect(try scene.decide(created.uploadID, by: device) == .noSuchUpload)
    }

    @Test func activityIsRecordedOnceAMinute() async throws {
        let created = try await device.create()
        #expect(
            try scene.touch(created.uploadID, by: device) == .allowed(partSize: Scene.partSize, needsActivity: true))
        scene.clock.advance(seconds: 59)
        #expect(
            try scene.decide(created.uploadID, by: device) == .allowed(partSize: Scene.partSize, needsActivity: false))
        scene.clock.advance(seconds: 1)
        #expect(
            try scene.decide(created.uploadID, by: device) == .allowed(partSize: Scene.partSize, needsActivity: true))
    }

    @Test func theSweepRemovesDataAndKeepsTheRow() async throws {
        let (idle, active, whole) = (
            try await device.create(), try await device.create(), try await device.create()
        )
        try scene.initiate(idle.uploadID, parts: 1)
        try scene.store(whole.uploadID, parts: 1)
        scene.clock.advance(seconds: 999)
        #expect(try await scene.uploads.sweep(scene.permit) == 0)
        try scene.initiate(active.uploadID, parts: 1)
        try scene.touch(active.uploadID, by: device)
        scene.clock.advance(seconds: 1)
        #expect(try await scene.uploads.sweep(scene.permit) == 1)
        #expect(try scene.snapshot(idle.uploadID).multiparts.isEmpty)
        #expect(try scene.snapshot(active.uploadID).multiparts.count == 1)
        #expect(try scene.snapshot(whole.uploadID).object != nil)
        #expect(try await device.recovery(idle.logicalUploadID).nextAction == .restart)

        scene.clock.advance(seconds: 300)
        #expect(try await scene.uploads.sweep(scene.permit) == 1)
        #expect(try scene.snapshot(whole.uploadID).object == nil)
        #expect(try await scene.uploads.sweep(scene.permit) == 0)

        scene.clock.advance(seconds: 400 * 86_400)
        for upload in [idle, whole] {
            let reply = try await device.recovery(upload.logicalUploadID)
            #expect(reply.logicalUploadStatus == .active && reply.nextAction == .restart && reply.restartAllowed)
        }
        #expect(try await device.create(restartFrom: idle.uploadID).logicalUploadID == idle.logicalUploadID)
    }

    @Test func sweptStaysSweptWhenSessionsGrow() async throws {
        let created = try await device.create()
        scene.clock.advance(seconds: 1000)
        _ = try await scene.uploads.sweep(scene.permit)
        scene.clock.advance(seconds: -500)
        #expect(try await device.recovery(created.logicalUploadID).nextAction == .restart)
        #expect(try scene.decide(created.uploadID, by: device) == .noSuchUpload)
        await expectRefusal(.uploadNotRefreshable) { try await device.reissue(created.uploadID) }
    }

    @Test func theSweepPassesWhatStaysAndReachesTheRest() async throws {
        for _ in 0..<7 { try scene.store(try await device.create().uploadID, parts: 1) }
        scene.clock.advance(seconds: 1)
        for _ in 0..<5 { _ = try await device.create() }
        scene.clock.advance(seconds: 1000)
        let sweep = UploadSweep(
            database: scene.database, store: scene.store, configuration: scene.configuration, batch: 3)
        #expect(try await sweep.run(scene.permit) == 5)
    }
}
