import Basics
import Crypto
import Database
import HTTPTestClient
import StoreClient
import StoreTesting
import TestSupport
import Testing

@testable import ObjectStore
@testable import S3Engine

/// Keys without rows: which of them are removed, and which are kept for an operator.
@Suite(.timeLimited) struct KeySweepTests {
    private let scene: BucketScene

    init() throws {
        scene = try BucketScene()
    }

    private func quarantined(_ gateway: BucketScene.Gateway) throws -> [QuarantinedSegment] {
        try gateway.store.database.readBlocking { try StoreRecords($0).quarantined(after: "", limit: 100) }
    }

    @Test func segmentOfAKilledGatewayIsRemovedAfterTheOrphanAge() throws {
        let killed = try scene.start()
        let id = try scene.leaveSegment(killed, uploadID: "upload-1", part: ("A1", 1))
        let gateway = try scene.start()
        scene.set("upload-1", .ended)
        scene.clock.advance(seconds: BucketScene.orphanAge - 10)
        #expect(try scene.sweep(gateway) == KeySweep.Result())
        #expect(try scene.dataKeys() == ["gateway/data/\(id.prefix(2))/\(id)"])
        scene.clock.advance(seconds: 20)
        #expect(try scene.sweep(gateway) == KeySweep.Result(removed: 1))
        #expect(try scene.dataKeys().isEmpty)
    }

    @Test func segmentsOfThisProcessStay() throws {
        let gateway = try scene.start()
        _ = try scene.leaveSegment(gateway, uploadID: "upload-1")
        scene.set("upload-1", .ended)
        scene.clock.advance(seconds: BucketScene.orphanAge + 10)
        #expect(try scene.sweep(gateway) == KeySweep.Result())
        #expect(try scene.dataKeys().count == 1)
    }

    @Test(arguments: [UploadRegister.UploadState?.none, .completed])
    func segmentOfAnUploadThatHasNotEndedIsQuarantined(state: UploadRegister.UploadState?) throws {
        let id = try scene.leaveSegment(try scene.start(), uploadID: "upload-1", part: ("A1", 7))
        scene.set("upload-1", state)
        let gateway = try scene.start()
        scene.clock.advance(seconds: BucketScene.orphanAge + 10)
        #expect(try scene.sweep(gateway) == KeySweep.Result(quarantined: 1))
        #expect(try scene.sweep(gateway) == KeySweep.Result())
        let segment = try #require(try quarantined(gateway).first)
        #expect(segment.id == id && segment.size == 1000 && segment.place.uploadID == "upload-1")
        #expect(segment.part == SegmentPart(multipartID: "A1", number: 7))
        #expect(try scene.dataKeys().count == 1)
    }

    @Test func segmentOfAStaticKeyIsQuarantined() throws {
        let uploadID = DirectObject.uploadID(bucket: "bucket", key: "key")
        _ = try scene.leaveSegment(try scene.start(), uploadID: uploadID)
        scene.set(uploadID, .ended)
        let gateway = try scene.start()
        scene.clock.advance(seconds: BucketScene.orphanAge + 10)
        #expect(try scene.sweep(gateway) == KeySweep.Result(quarantined: 1))
    }

    @Test func segmentOfAnUploadInProgressStays() throws {
        _ = try scene.leaveSegment(try scene.start(), uploadID: "upload-1")
        scene.set("upload-1", .inProgress)
        let gateway = try scene.start()
        scene.clock.advance(seconds: BucketScene.orphanAge + 10)
        #expect(try scene.sweep(gateway) == KeySweep.Result())
        #expect(try scene.dataKeys().count == 1)
    }

    /// The database may be older than its object's completion.
    @Test func segmentOfAMultipartUploadWithRowsStays() throws {
        let gateway = try scene.start()
        let multipartID = try gateway.store.client().initiate()
        let other = try scene.start()
        _ = try scene.leaveSegment(other, uploadID: "upload-1", part: (multipartID, 2))
        scene.set("upload-1", .ended)
        scene.clock.advance(seconds: BucketScene.orphanAge + 10)
        #expect(try scene.sweep(gateway) == KeySweep.Result())
        #expect(try scene.dataKeys().count == 1)
    }

    @Test func keysOfOthersStay() async throws {
        let gateway = try scene.start()
        let client = try scene.bucket.client()
        var properties = try scene.bucket.configuration().properties
        let id = Random.hex(16)
        let label = SegmentLabel(
            FilePurpose(StoredObject.Place(bucket: "bucket", key: "key", uploadID: "upload-1")), storeID: "another",
            at: scene.clock.now())
        for (name, metadata) in [("data/\(id.prefix(2))/\(id)", label.metadata), ("data/note", []), ("other", [])] {
            properties.metadata = metadata
            _ = try await client.put("gateway/\(name)", [1, 2, 3], properties)
        }
        _ = try await client.put("gateway/data/00/\(String(repeating: "0", count: 32))", [1, 2, 3])
        scene.set("upload-1", .ended)
        scene.clock.advance(seconds: BucketScene.orphanAge + 10)
        #expect(try scene.sweep(gateway) == KeySweep.Result())
        #expect(try quarantined(gateway).isEmpty)
        #expect(try scene.dataKeys().count == 3)
    }

    /// A copy of the bucket by another program has a younger time than the bytes, and a bucket may have a slow clock.
    @Test(arguments: [true, false]) func youngerOfBothTimesCounts(isCopy: Bool) async throws {
        let id = try scene.leaveSegment(try scene.start(), uploadID: "upload-1")
        scene.set("upload-1", .ended)
        let gateway = try scene.start()
        let client = try scene.bucket.client()
        let key = "gateway/data/\(id.prefix(2))/\(id)"
        var properties = try scene.bucket.configuration().properties
        var metadata = try #require(try await client.head(key)).metadata
        if !isCopy { metadata["written"] = "\(scene.clock.now().adding(seconds: BucketScene.orphanAge).microseconds)" }
        properties.metadata = metadata.map { ($0.key, $0.value) }
        if isCopy { scene.clock.advance(seconds: BucketScene.orphanAge + 10) }
        _ = try await client.put(key, content(1000), properties)
        if !isCopy { scene.clock.advance(seconds: BucketScene.orphanAge + 10) }
        #expect(try scene.sweep(gateway) == KeySweep.Result())
        scene.clock.advance(seconds: BucketScene.orphanAge + 10)
        #expect(try scene.sweep(gateway) == KeySweep.Result(removed: 1))
    }

    @Test func removedKeyLeavesTheQuarantine() async throws {
        let ids = try (0..<3).map { _ in try scene.leaveSegment(try scene.start(), uploadID: "upload-1") }
        let gateway = try scene.start()
        scene.clock.advance(seconds: BucketScene.orphanAge + 10)
        #expect(try scene.sweep(gateway).quarantined == 3)
        try await scene.bucket.client().delete("gateway/data/\(ids[1].prefix(2))/\(ids[1])")
        _ = try scene.sweep(gateway)
        #expect(try quarantined(gateway).map(\.id) == [ids[0], ids[2]].sorted())
    }

    @Test func everyPageIsSwept() throws {
        let killed = try scene.start()
        for index in 0..<1010 { _ = try scene.leaveSegment(killed, uploadID: "upload-\(index % 2)") }
        scene.set("upload-0", .ended)
        let gateway = try scene.start()
        scene.clock.advance(seconds: BucketScene.orphanAge + 10)
        #expect(try scene.sweep(gateway) == KeySweep.Result(removed: 505, quarantined: 505))
        #expect(try scene.dataKeys().count == 505)
        #expect(try scene.sweep(gateway) == KeySweep.Result())
    }

    @Test func completedObjectOutlivesReleasesAndSweeps() throws {
        let gateway = try scene.start()
        let client = gateway.store.client()
        let id = try client.initiate()
        let parts = (1...5).map { content(65_536, seed: UInt64($0)) }
        for (number, part) in parts.enumerated() {
            #expect(try client.part(number + 1, of: id, content(65_536, seed: 99)).status == 200)
            #expect(try client.part(number + 1, of: id, part).status == 200)
        }
        #expect(try client.completeAll(id).status == 200)
        #expect(try gateway.store.files().count == 1)
        scene.set("upload-1", .completed)
        scene.clock.advance(seconds: 2 * BucketScene.orphanAge)
        #expect(try scene.sweep(gateway) == KeySweep.Result())
        try gateway.store.restart(isClean: true)
        let later = gateway.store.client(lifetime: 3 * BucketScene.orphanAge)
        #expect(try later.get() == Array(parts.joined()))
        // Its small segments were merged.
        #expect(try scene.dataKeys().count == 1)
    }
}
