import Basics
import Database
import GatewayFormats
import GatewayProto
import TestSupport
import Testing

@testable import Catalog
@testable import ObjectStore
@testable import Uploads

/// The retention of records of ended uploads.
@Suite(.timeLimited) struct UploadRetentionTests {
    private static let day: Int64 = 86_400
    private let scene: Scene
    private let device: Caller

    init() throws {
        scene = try Scene()
        device = try scene.device()
    }

    private func retention() -> UploadRetention {
        UploadRetention(database: scene.database, age: .days(400))
    }

    private func count(_ table: String) throws -> Int {
        try scene.database.readBlocking { try $0.first("SELECT count(*) FROM \(table)") { $0.int(0) } ?? 0 }
    }

    /// Deletes the upload's object like the services do; the state of the key does not matter here.
    private func delete(_ uploadID: String) throws {
        let now = scene.clock.now()
        try scene.database.writeBlocking { [store = scene.store] connection in
            let records = ObjectRecords(connection)
            let fileID = try #require(try store.object(uploadID: uploadID, in: connection)?.fileID)
            let object = try #require(try records.anyObject(id: fileID, scope: 1))
            try records.bury(object, by: "test", reason: "", at: now)
            try store.discard(uploadID: uploadID, in: connection)
        }
    }

    @Test func sweptAndAbortedUploadsAreKnownForFourHundredDays() async throws {
        let swept = try await device.create()
        let aborted = try await device.create()
        var restarted = try await device.create()
        let first = restarted.uploadID
        for _ in 0..<10 { restarted = try await device.create(restartFrom: restarted.uploadID) }
        try await device.abort(aborted.logicalUploadID)
        scene.clock.advance(seconds: 20 * Self.day)
        _ = try await scene.uploads.sweep(scene.permit)
        scene.clock.advance(seconds: 380 * Self.day)
        #expect(try await retention().run(scene.permit) == 0)
        #expect(try await device.recovery(swept.logicalUploadID).nextAction == .restart)
        #expect(try await device.recovery(aborted.logicalUploadID).nextAction == .abort)
        // A session ends a week after its beginning at the latest.
        scene.clock.advance(seconds: 8 * Self.day)
        let kept = try await device.create()
        #expect(try await retention().run(scene.permit) == 3)
        await expectRefusal(.uploadNotFound) { try await device.recovery(swept.logicalUploadID) }
        await expectRefusal(.uploadNotFound) { try await device.recovery(aborted.logicalUploadID) }
        await expectRefusal(.uploadNotFound) { try await device.create(restartFrom: first) }
        #expect(try await device.recovery(kept.logicalUploadID).nextAction == .continue)
        #expect(try count("uploads") == 1 && count("logical_uploads") == 1 && count("superseded_uploads") == 0)
    }

    @Test func anObjectKeepsItsUpload() async throws {
        let created = try await device.create()
        try await device.complete(scene.store(created.uploadID, parts: 1))
        scene.clock.advance(seconds: 1000 * Self.day)
        #expect(try await retention().run(scene.permit) == 0)
        #expect(try await device.recovery(created.logicalUploadID).nextAction == .completeOnly)
        try delete(created.uploadID)
        scene.store.work.discards.drain()
        let removal = ObjectRemoval(database: scene.database, store: scene.store, clock: scene.clock)
        scene.clock.advance(seconds: 400 * Self.day)
        #expect(try await removal.forgetDeleted(olderThan: .days(400), scene.permit) == 0)
        #expect(try await retention().run(scene.permit) == 0)
        scene.clock.advance(seconds: 1)
        #expect(try await removal.forgetDeleted(olderThan: .days(400), scene.permit) == 1)
        #expect(try await retention().run(scene.permit) == 1)
        #expect(try count("uploads") == 0 && count("logical_uploads") == 0 && count("deleted_objects") == 0)
        #expect(try await scene.store.sweepUsage() == 1)
        #expect(try await scene.uploads.sweepUsage() == 2)
        #expect(try count("store_usage") == 0 && count("upload_usage") == 0)
    }

    /// Uploads that are open, wait for their sweep, or have rows in the store stay, however old.
    @Test func unfinishedUploadsStayHoweverOld() async throws {
        let open = try await device.create()
        let lingering = try await device.create()
        try scene.initiate(lingering.uploadID, parts: 1)
        try await device.abort(lingering.logicalUploadID)
        try scene.initiate(lingering.uploadID)
        scene.clock.advance(seconds: 1000 * Self.day)
        #expect(try await retention().run(scene.permit) == 0)
        #expect(try await device.recovery(open.logicalUploadID).nextAction == .restart)
        #expect(try count("uploads") == 2)
    }

    @Test func itWalksOnceADay() async throws {
        let retention = retention()
        for _ in 0..<3 {
            let created = try await device.create()
            try await device.abort(created.logicalUploadID)
            scene.clock.advance(seconds: 408 * Self.day)
            #expect(try await retention.run(scene.permit) == 1)
            let next = try await device.create()
            try await device.abort(next.logicalUploadID)
            #expect(try await retention.run(scene.permit) == 0)
            scene.clock.advance(seconds: 408 * Self.day)
            #expect(try await retention.run(scene.permit) == 1)
        }
    }

    /// Earlier versions left any number of superseded attempts.
    @Test func noTransactionDeletesManyRows() async throws {
        let created = try await device.create()
        try scene.database.writeBlocking { connection in
            _ = try connection.execute(
                """
                WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 3000)
                INSERT INTO uploads (id, logical_id, state, is_restart, bucket, endpoint, region, backend, object_key,
                    part_size, created_at, session_ends_at)
                SELECT 'old-' || i, $1, 2, 1, 'b', 'e', 'r', 'oss', 'k' || i, 65536, 0, 0 FROM n
                """, created.logicalUploadID)
        }
        try await device.abort(created.logicalUploadID)
        var batches = 0
        var rows = UploadRetention.batch
        while rows == UploadRetention.batch {
            rows = try await scene.database.write {
                try UploadRecords($0).forget(logicalID: created.logicalUploadID, limit: UploadRetention.batch)
            }
            batches += 1
        }
        #expect(batches == 16)
        #expect(try count("uploads") == 0 && count("logical_uploads") == 0)
    }
}
