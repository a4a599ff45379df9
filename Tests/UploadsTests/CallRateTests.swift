import Basics
import Database
import GatewayAPI
import GatewayProto
import ObjectStore
import RPC
import TestSupport
import Testing

@testable import Uploads

/// The rate limit of a device's calls, and the remains of superseded attempts.
@Suite(.timeLimited) struct CallRateTests {
    @Test func oneTooManyIsToldWhenToComeAgain() async throws {
        let scene = try Scene()
        let service = try scene.service(callsPerMinute: 6)
        let device = try scene.device(1).at(service)
        let created = try await device.create()
        for _ in 0..<3 { _ = try await device.reissue(created.uploadID) }
        let restarted = try await device.create(restartFrom: created.uploadID)
        try await device.abort(created.logicalUploadID)
        await expectRefusal(.rateLimited) { try await device.create() }
        await expectRefusal(.rateLimited) { try await device.create(restartFrom: restarted.uploadID) }
        await expectRefusal(.rateLimited) { try await device.reissue(restarted.uploadID) }
        let error = await #expect(throws: RPCError.self) { try await device.abort(created.logicalUploadID) }
        #expect(error?.detail == .rateLimited && error?.retryAfterMilliseconds == 10_000)
        // Calls that clients need for recovery are not limited, and other devices have limits of their own.
        _ = try await device.recovery(created.logicalUploadID)
        _ = try await scene.device(2).at(service).create()
        scene.clock.advance(seconds: 10)
        _ = try await device.create()
        await expectRefusal(.rateLimited) { try await device.create() }
    }

    @Test func aSiteMayCallTenTimesAsOften() async throws {
        let scene = try Scene()
        let site = try scene.site(1).at(scene.service(callsPerMinute: 1))
        for _ in 0..<CallRate.siteFactor { _ = try await site.create() }
        await expectRefusal(.rateLimited) { try await site.create() }
    }

    @Test func restartsLeaveAFewRows() async throws {
        let scene = try Scene()
        let device = try scene.device()
        let first = try await device.create()
        var ids = [first.uploadID]
        for _ in 0..<20 {
            scene.clock.advance(seconds: 1)
            try scene.initiate(ids[ids.count - 1], parts: 1)
            ids.append(try await device.create(restartFrom: ids[ids.count - 1]).uploadID)
        }
        let rows = try scene.database.readBlocking { try $0.query("SELECT id FROM uploads ORDER BY id") { $0.text(0) } }
        #expect(rows == ids.suffix(UploadSchema.keptSuperseded + 1))
        let usage = try scene.database.readBlocking { try $0.query("SELECT upload_id FROM store_usage") { $0.text(0) } }
        #expect(Set(usage).isSubset(of: ids.suffix(UploadSchema.keptSuperseded + 1)))
        let other = try scene.device(2)
        for id in ids.dropLast() {
            await expectRefusal(.uploadNotRefreshable) { try await device.reissue(id) }
            await expectRefusal(.uploadNotOwned) { try await other.reissue(id) }
            #expect(try scene.decide(id, by: device) == .noSuchUpload)
            await expectRefusal(.failedPrecondition) {
                try await device.complete(.init(uploadID: id))
            }
        }
        // A client that lost every response still uses the first id.
        let last = try await device.create(restartFrom: first.uploadID)
        #expect(last.logicalUploadID == first.logicalUploadID)
        #expect(try scene.record(ids[20]).state == .superseded && scene.record(last.uploadID).state == .current)
        await expectRefusal(.uploadNotOwned) { try await other.create(restartFrom: first.uploadID) }
        await expectRefusal(.uploadNotFound) { try await device.create(restartFrom: "nobody's") }
    }

    /// A key is valid for a day, whatever the state of its attempt.
    @Test func anAttemptWithAnIdempotencyKeyKeepsItsRow() async throws {
        let scene = try Scene()
        let device = try scene.device()
        let first = try await device.create(hints: ["idempotency_key": "once"])
        var last = first.uploadID
        for _ in 0..<10 { last = try await device.create(restartFrom: last).uploadID }
        await expectRefusal(.uploadNotRefreshable) { try await device.create(hints: ["idempotency_key": "once"]) }
        scene.clock.advance(seconds: IdempotencyKey.lifetime.wholeSeconds + 1)
        _ = try await scene.uploads.sweep(scene.permit)
        _ = try await device.create(restartFrom: last)
        let rows = try scene.database.readBlocking { try $0.query("SELECT id FROM uploads") { $0.text(0) } }
        #expect(rows.count == UploadSchema.keptSuperseded + 1 && !rows.contains(first.uploadID))
    }
}
