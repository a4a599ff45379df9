import Basics
import Capability
import GatewayAPI
import Proto
import RPC
import TestSupport
import Testing
import Webhooks

@testable import Uploads

/// The events of uploads that end without an object.
@Suite(.timeLimited) struct UploadFailureTests {
    private let scene: Scene

    init() throws {
        scene = try Scene(events: [.uploadFailed])
    }

    @Test func abortOfTheDeviceIsAFailureWithItsReason() async throws {
        let device = try scene.device()
        let upload = try await device.create(hints: ["file_name": "run7.mcap"])
        for _ in 0..<2 { _ = try await device.abort(upload.logicalUploadID, reason: "the file changed") }
        let events = try scene.events()
        #expect(events.map(\.name) == ["upload.failed uploads/\(upload.logicalUploadID)"])
        let data = """
            {"cause":"aborted","device_id":"\(device.deviceID)","file_name":"run7.mcap",\
            "logical_upload_id":"\(upload.logicalUploadID)","reason":"the file changed","site_id":1,\
            "upload_id":"\(upload.uploadID)"}
            """
        #expect(events[0].payload.contains(data), "\(events[0].payload)")
    }

    @Test func endOfASessionIsAFailureOnce() async throws {
        let upload = try await scene.site(1).create()
        scene.clock.advance(seconds: scene.configuration.sessionIdle.wholeSeconds + 1)
        for _ in 0..<2 { _ = try await scene.uploads.sweep(scene.permit) }
        let events = try scene.events()
        #expect(events.map(\.name) == ["upload.failed uploads/\(upload.logicalUploadID)"])
        let data = """
            {"cause":"expired","logical_upload_id":"\(upload.logicalUploadID)",\
            "reason":"nothing was received until the end of its session","site_id":1,"upload_id":"\(upload.uploadID)"}
            """
        #expect(events[0].payload.contains(data), "\(events[0].payload)")
    }

    @Test func eachAttemptFailsForItself() async throws {
        let device = try scene.device()
        let first = try await device.create()
        scene.clock.advance(seconds: scene.configuration.sessionIdle.wholeSeconds + 1)
        _ = try await scene.uploads.sweep(scene.permit)
        let second = try await device.create(restartFrom: first.uploadID)
        #expect(second.logicalUploadID == first.logicalUploadID)
        _ = try await device.abort(second.logicalUploadID)
        #expect(
            try scene.events().map(\.name)
                == Array(repeating: "upload.failed uploads/\(first.logicalUploadID)", count: 2))
    }

    @Test func completedCanceledAndReplacedUploadsDidNotFail() async throws {
        let device = try scene.device()
        let completed = try await device.create()
        try await device.complete(try scene.store(completed.uploadID))
        _ = try await device.abort(completed.logicalUploadID)
        let canceled = try await device.create()
        _ = try await scene.management().cancelUpload(
            CancelUploadRequest(logicalUploadID: canceled.logicalUploadID, reason: "not needed"),
            context: scene.context(UploadManagementServiceMethods.cancelUpload, by: "olga", .operator, of: 1))
        let replaced = try await device.create()
        _ = try await device.create(restartFrom: replaced.uploadID)
        #expect(try scene.events().isEmpty)
    }
}
