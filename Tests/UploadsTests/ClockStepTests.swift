import Basics
import Database
import GatewayProto
import TestSupport
import Testing

@testable import Catalog
@testable import ObjectStore
@testable import Uploads

/// The effects on uploads and objects when the clock is set by more than a year.
@Suite(.timeLimited) struct ClockStepTests {
    private static let day: Int64 = 86_400
    private static let step: Int64 = 400 * day
    private let scene: Scene
    private let device: Caller

    init() throws {
        scene = try Scene()
        device = try scene.device()
    }

    private func retain(days: Int32) throws {
        try scene.database.writeBlocking {
            try ObjectRecords($0).setRetentionRules(
                RetentionRules(days: days, rules: []), organizationID: 1, keepsRules: true)
        }
    }

    private func objects() throws -> Int {
        try scene.database.readBlocking {
            try $0.first("SELECT count(*) FROM objects WHERE trashed_at IS NULL") { $0.int(0) } ?? 0
        }
    }

    private var removal: ObjectRemoval {
        ObjectRemoval(database: scene.database, store: scene.store, clock: scene.clock)
    }

    @Test(arguments: [step, -step])
    func anUploadUnderWayGoesOnAcrossAStep(step: Int64) async throws {
        let created = try await device.create()
        try scene.initiate(created.uploadID, parts: 1)
        try scene.touch(created.uploadID, by: device)
        scene.clock.step(seconds: step)
        #expect(scene.clockGuard.permit() == nil)
        let recovery = try await device.recovery(created.logicalUploadID)
        #expect(recovery.nextAction == .continue)
        #expect(recovery.sessionExpireAtUnix > scene.clock.now().seconds)
        _ = try await device.reissue(created.uploadID)
        #expect(try scene.decide(created.uploadID, by: device) != .noSuchUpload)

        #expect(scene.clockGuard.confirm(step: step))
        #expect(try await scene.uploads.sweep(scene.permit) == 0)
        scene.clock.advance(seconds: scene.configuration.sessionIdle.wholeSeconds)
        #expect(try await scene.uploads.sweep(scene.permit) == 1)
    }

    @Test func anUploadThatBeganUnderASlowClockGoesOn() async throws {
        scene.clock.step(seconds: -Self.step)
        let created = try await device.create()
        try scene.initiate(created.uploadID, parts: 1)
        scene.clock.advance(seconds: 10)
        scene.clock.step(seconds: Self.step)
        #expect(try await scene.uploads.sweep(scene.permit) == 0)
        #expect(try await device.recovery(created.logicalUploadID).nextAction == .continue)
    }

    @Test func anObjectOfASlowClockIsKeptForItsTime() async throws {
        try retain(days: 30)
        _ = scene.clockGuard.permit()
        scene.clock.step(seconds: -Self.step)
        let created = try await device.create()
        try await device.complete(scene.store(created.uploadID, parts: 1))
        scene.clock.step(seconds: Self.step)
        #expect(try await removal.applyRetention(scene.permit) == 0)
        scene.clock.advance(seconds: 30 * Self.day)
        #expect(try await removal.applyRetention(scene.permit) == 0)
        scene.clock.advance(seconds: 60)
        #expect(try await removal.applyRetention(scene.permit) == 1)
        #expect(try objects() == 0)
    }

    @Test func aSweepEndsWhereTheClockStepsMeanwhile() async throws {
        try retain(days: 30)
        let permit = try scene.permit
        let created = try await device.create()
        try await device.complete(scene.store(created.uploadID, parts: 1))
        scene.clock.step(seconds: Self.step)
        await #expect(throws: ClockStepped.self) { try await removal.applyRetention(permit) }
        await #expect(throws: ClockStepped.self) { try await scene.uploads.sweep(permit) }
        #expect(try objects() == 1)
    }

    @Test func recordsOfASlowClockAreKeptForTheirTime() async throws {
        _ = scene.clockGuard.permit()
        scene.clock.step(seconds: -2 * Self.step)
        let created = try await device.create()
        try await device.abort(created.logicalUploadID)
        scene.clock.step(seconds: 2 * Self.step)
        let retention = UploadRetention(database: scene.database, age: .days(400))
        #expect(try await retention.run(scene.permit) == 0)
        scene.clock.advance(seconds: Self.step + 8 * Self.day)
        #expect(try await retention.run(scene.permit) == 1)
    }
}
