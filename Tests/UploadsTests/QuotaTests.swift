import Accounts
import Basics
import Catalog
import Database
import GatewayAPI
import ObjectStore
import Proto
import RPC
import StoreProtocol
import TestSupport
import Testing

@testable import Catalog
@testable import ObjectStore
@testable import Uploads

@Suite(.timeLimited) struct QuotaTests {
    private func usage(_ scene: Scene, _ owner: String) throws -> Usage {
        try scene.database.readBlocking { connection in
            try connection.first("SELECT bytes, objects, uploads FROM upload_usage WHERE owner = $1", owner) {
                Usage(bytes: $0.int64(0), objects: $0.int64(1), uploads: $0.int64(2))
            }
        } ?? Usage()
    }

    /// Returns the same usage, counted from the rows themselves.
    private func counted(_ scene: Scene, _ column: String, _ owner: any Bindable) throws -> Usage {
        try scene.database.readBlocking { connection in
            func sum(_ sql: String) throws -> Int64 {
                let uploads = """
                    (SELECT u.* FROM uploads u JOIN logical_uploads l ON l.id = u.logical_id WHERE l.\(column) = $1) AS own
                    """
                return try connection.first(sql.replacing("UPLOADS", with: uploads), owner) { $0.int64(0) } ?? 0
            }
            func tagCost() throws -> Int64 {
                let costs = try connection.query(
                    """
                    SELECT t.key, t.value FROM object_tags t JOIN objects o ON o.position = t.position
                    WHERE o.upload_id IN (
                        SELECT u.id FROM uploads u JOIN logical_uploads l ON l.id = u.logical_id WHERE l.\(column) = $1)
                    """, owner
                ) { Int64(TagCost.bytes(of: [$0.text("key"): $0.text("value")])) }
                return costs.reduce(0, +)
            }
            return Usage(
                bytes: try sum(
                    "SELECT coalesce(sum(size), 0) FROM store_objects WHERE upload_id IN (SELECT id FROM UPLOADS)")
                    + sum(
                        """
                        SELECT coalesce(sum(p.size), 0) FROM store_parts p JOIN store_multiparts m ON m.id = p.multipart_id
                        WHERE m.completed = 0 AND m.upload_id IN (SELECT id FROM UPLOADS)
                        """)
                    + tagCost(),
                objects: try sum("SELECT count(*) FROM objects WHERE upload_id IN (SELECT id FROM UPLOADS)"),
                uploads: try sum("SELECT count(*) FROM UPLOADS WHERE state = 1 AND is_swept = 0"))
        }
    }

    /// Whatever happens, in any order, the stored usage equals the counted one and is never below 0.
    @Test(arguments: 0..<20) func keptUsageEqualsTheCountedUsage(seed: UInt64) async throws {
        let scene = try Scene()
        let callers = [try scene.device(1), try scene.device(2), try scene.site(1), try scene.site(2)]
        var generator = SeededGenerator(seed: seed)
        var uploads: [(id: String, logicalID: String, caller: Caller)] = []
        for _ in 0..<60 {
            if uploads.isEmpty || Int.random(in: 0..<5, using: &generator) == 0 {
                let caller = callers[Int.random(in: 0..<callers.count, using: &generator)]
                let created = try await caller.create()
                uploads.append((created.uploadID, created.logicalUploadID, caller))
            }
            let (id, logicalID, caller) = uploads[Int.random(in: 0..<uploads.count, using: &generator)]
            try await happen(to: id, logicalID, caller, scene, &generator)
            for (column, kind, ids) in [
                ("device_id", "device", ["260101-000001", "260101-000002"] as [any Bindable]),
                ("site_id", "site", [Int64(1), Int64(2)]),
            ] {
                for owner in ids {
                    let kept = try usage(scene, "\(kind)/\(owner)")
                    #expect(try kept == counted(scene, column, owner))
                    #expect(min(kept.bytes, kept.objects, kept.uploads) >= 0)
                }
            }
        }
    }

    private func happen(
        to id: String, _ logicalID: String, _ caller: Caller, _ scene: Scene, _ generator: inout SeededGenerator
    ) async throws {
        let isOpen = try scene.record(id).state == .current && !scene.record(id).isSwept
        let multipart = try scene.snapshot(id).multiparts.randomElement(using: &generator)?.id
        let number = Int.random(in: 1...4, using: &generator)
        let size = Int64.random(in: 0...1000, using: &generator)
        let now = scene.clock.now()
        switch Int.random(in: 0..<15, using: &generator) {
        case 0 where isOpen: try scene.initiate(id, parts: number)
        case 1 where isOpen: try scene.store(id, size: size)
        case 2 where isOpen: try scene.store(id, size: size, parts: number)
        case 3, 4:
            guard let multipart else { return }
            let part = PartRecord(
                number: number, size: size, md5: Array(repeating: 1, count: 16), crc64: 0, fileID: nil, storedAt: now)
            try scene.database.writeBlocking { try StoreRecords($0).put(part, of: multipart) }
        case 5:
            guard let multipart else { return }
            try scene.database.writeBlocking { connection in
                _ = try connection.execute(
                    "DELETE FROM store_parts WHERE multipart_id = $1 AND number = $2", multipart, number)
            }
        case 6:
            guard let multipart else { return }
            try scene.database.writeBlocking { try StoreRecords($0).deleteMultipart(multipart) }
        case 7:
            guard let object = try scene.snapshot(id).object else { return }
            try? await caller.complete(
                CompleteUploadRequest(
                    uploadID: id, fileSize: object.size, completedPartCount: Int32(object.partCount),
                    ossObjectEtag: object.etag))
        case 8: _ = try? await caller.create(restartFrom: id)
        case 9: try await caller.abort(logicalID)
        case 10:
            scene.clock.advance(seconds: [10, 50_000].randomElement(using: &generator) ?? 0)
            _ = try await scene.uploads.sweep(scene.permit)
        case 11...13:
            try scene.database.writeBlocking { connection in
                let records = ObjectRecords(connection)
                let found = try connection.first("SELECT file_id FROM objects WHERE upload_id = $1", id) { $0.text(0) }
                guard let found, let (position, object) = try records.placedObject(id: found, scope: 1) else { return }
                if number == 1 {
                    try records.setTags(["é": String(repeating: "x", count: Int(size))], of: object, at: position)
                } else if object.trashedAt == nil {
                    try records.trash(object, ObjectRemoval.Order(actor: "test", reason: ""), at: now)
                } else {
                    try records.restore(object, at: now)
                }
            }
        default:
            try scene.database.writeBlocking { [store = scene.store] connection in
                let records = ObjectRecords(connection)
                let found = try connection.first("SELECT file_id FROM objects WHERE upload_id = $1", id) { $0.text(0) }
                guard let found, let object = try records.anyObject(id: found, scope: 1) else { return }
                try records.bury(object, by: "test", reason: "", at: now)
                _ = try store.discard(uploadID: id, in: connection)
            }
        }
    }

    /// A small object may have half a megabyte of tags, which take several times that.
    @Test func tagsCountAsWhatTheyCost() async throws {
        let scene = try Scene { $0.quota.value.device.bytes = 20_000 }
        let device = try scene.device(1)
        let created = try await device.create()
        var request = try scene.store(created.uploadID, size: 1)
        request.rawTags = ["key": String(repeating: "x", count: 1000), "é": "y"]
        try await device.complete(request)
        let bytes: Int64 = 1 + 10_000 + 150 + 8 * 3
        #expect(try usage(scene, "device/260101-000001").bytes == bytes)
        #expect(try usage(scene, "site/1").bytes == bytes)
        // An upload is completed whatever the size of its tags; the next one exceeds the quota.
        let second = try await device.create()
        var another = try scene.store(second.uploadID, size: 1)
        another.rawTags = request.rawTags
        try await device.complete(another)
        await expectRefusal(.failedPrecondition) { try await device.create() }
        let now = scene.clock.now()
        try scene.database.writeBlocking { [store = scene.store] connection in
            let records = ObjectRecords(connection)
            let fileID = try #require(try store.object(uploadID: created.uploadID, in: connection)?.fileID)
            let object = try #require(try records.anyObject(id: fileID, scope: 1))
            try records.bury(object, by: "test", reason: "", at: now)
            try store.discard(uploadID: created.uploadID, in: connection)
        }
        #expect(try usage(scene, "device/260101-000001").bytes == bytes)
        _ = try await device.create()
    }

    @Test func uploadsUnderWayAreLimited() async throws {
        let scene = try Scene { $0.quota.value.device.uploads = 2 }
        let (device, other) = (try scene.device(1), try scene.device(2))
        let first = try await device.create()
        let second = try await device.create()
        await expectRefusal(.failedPrecondition) { try await device.create() }
        _ = try await other.create()
        // A restart does not count as another upload, nor do aborted and completed ones.
        _ = try await device.create(restartFrom: first.uploadID)
        await expectRefusal(.failedPrecondition) { try await device.create() }
        try await device.abort(second.logicalUploadID)
        let third = try await device.create()
        try await device.complete(try scene.store(third.uploadID))
        _ = try await device.create()
    }

    @Test func objectsAreLimited() async throws {
        let scene = try Scene { $0.quota.value.site.objects = 2 }
        let (device, site) = (try scene.device(1), try scene.site(1))
        let first = try await device.create()
        try await device.complete(try scene.store(first.uploadID))
        _ = try await site.create()
        let error = await #expect(throws: RPCError.self) { _ = try await device.create() }
        #expect(error?.detail == .failedPrecondition)
        #expect(
            error?.message
                == "the quota does not allow another upload: the site may have at most 2 objects (quota.site_objects)")
        _ = try await scene.site(2).create()
    }

    /// Returns the quota that a body of an upload would exceed.
    private func excess(_ scene: Scene, _ uploadID: String, bytes: Int64) throws -> String? {
        let claims = CredentialClaims(
            uploadID: uploadID, bucket: "data", key: "key", operations: .write,
            expiresAt: scene.clock.now(), holder: .init(.apiKey(id: "key", epoch: 1), of: 1))
        return try scene.database.readBlocking { try scene.policy.excess(claims, bytes: bytes, in: $0) }
    }

    @Test func uploadInProgressEndsWithinLoweredNumbers() async throws {
        let scene = try Scene { $0.quota.value.device.uploads = 2 }
        let device = try scene.device()
        let uploads = [try await device.create(), try await device.create()]
        scene.configuration.quota.value.device.uploads = 1
        scene.configuration.quota.value.device.objects = 1
        #expect(try excess(scene, uploads[0].uploadID, bytes: 1) == nil)
        scene.configuration.quota.value.device.bytes = 1
        #expect(try excess(scene, uploads[0].uploadID, bytes: 2) != nil)
        await expectRefusal(.failedPrecondition) { try await device.create() }
    }

    @Test func bytesAreLimited() async throws {
        let scene = try Scene { $0.quota.value.device.bytes = 1000 }
        let device = try scene.device()
        let first = try await device.create()
        try scene.store(first.uploadID, size: 999)
        let second = try await device.create()
        #expect(try excess(scene, second.uploadID, bytes: 1) == nil)
        let refusal = "the device may have at most 1000 stored bytes (quota.device_bytes)"
        #expect(try excess(scene, second.uploadID, bytes: 2) == refusal)
        try scene.store(second.uploadID, size: 1)
        await expectRefusal(.failedPrecondition) { try await device.create() }
    }
}
