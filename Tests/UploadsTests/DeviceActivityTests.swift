import Accounts
import Basics
import Database
import Proto
import TestSupport
import Testing

@testable import Uploads

/// The uploads of a device, for the device registry.
@Suite(.timeLimited) struct DeviceActivityTests {
    let scene: Scene

    init() throws {
        scene = try Scene()
    }

    private func activity(of device: Caller) throws -> DeviceUploadActivity {
        try scene.database.readBlocking { try UploadRecords($0).activity(ofDevice: device.deviceID) }
    }

    @Test func failuresHaveTheirReasons() async throws {
        let device = try scene.device(1)
        let swept = try await device.create()
        scene.clock.advance(seconds: 100_000)
        _ = try await scene.uploads.sweep(scene.permit)
        let aborted = try await device.create(hints: ["file_name": "a.mcap"])
        try await device.abort(aborted.logicalUploadID, reason: "disk error")
        _ = try await device.create()
        _ = try await scene.device(2).create()
        let found = try activity(of: device)
        #expect(found.failures.map(\.uploadID) == [aborted.uploadID, swept.uploadID])
        #expect(found.failures.map(\.reason) == ["disk error", "nothing was received until the end of its session"])
        #expect(found.failures.map(\.fileName) == ["a.mcap", ""])
        #expect(found.inProgress == 1)
        #expect(found.lastCompletedAt == nil)
    }

    @Test func rateIsThatOfTheWeekBeforeTheLastUpload() async throws {
        let device = try scene.device(1)
        // One upload ten days before the others, which are two a day for four days.
        try await device.complete(try scene.store(device.create().uploadID))
        scene.clock.advance(seconds: 10 * 86_400)
        for _ in 0..<8 {
            scene.clock.advance(seconds: 43_200)
            try await device.complete(try scene.store(device.create().uploadID))
        }
        let last = scene.clock.now()
        scene.clock.advance(seconds: 86_400)
        let found = try activity(of: device)
        #expect(found.lastCompletedAt == last)
        #expect(found.completedPerDay == 2)
        #expect(found.failures.isEmpty)
    }
}
