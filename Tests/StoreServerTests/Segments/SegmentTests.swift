import Basics
import Crypto
import Database
import HTTPTestClient
import StoreTesting
import Synchronization
import TestSupport
import Testing

@testable import ObjectStore
@testable import S3Engine
@testable import StoreProtocol

/// Bodies on their way to the bucket, and back.
@Suite(.timeLimited) struct SegmentTests {
    private let folder: TestFolder
    private let engine: S3Engine
    private let store: TestStore
    private let bucket: TestBucket

    init() throws {
        folder = try TestFolder(inMemory: true)
        engine = try TestBucket.makeEngine(spoolFolder: folder.path) { $0.spool.bytes = 2 << 20 }
        store = try TestStore(inMemory: true, engine: engine)
        bucket = try #require(TestBucket.of(engine))
        store.policy.decision.withLock { $0 = .allowed(partSize: 0, needsActivity: false) }
    }

    private func keys() throws -> [String] {
        store.store.work.upkeep.drain()
        return try bucket.keys().filter { $0.contains("/data/") }
    }

    private func put(
        _ body: [UInt8], declared: Int64?, checks: BodyChecks = BodyChecks(), pieces: Int = 64 << 10
    ) throws -> StoredObject {
        let permit = WritePermit(claims: store.claims(), policy: store.policy)
        let put = try ObjectPut(store.store, permit: permit, length: declared, checks: checks, header: ObjectHeader())
        for start in stride(from: 0, to: body.count, by: pieces) {
            body[start..<min(start + pieces, body.count)].withUnsafeBytes(put.receive)
        }
        return try put.finish()
    }

    static let sizes = [
        0, 1, BodyPipeline.pieceSize, SegmentSink.held - 1, SegmentSink.held, SegmentSink.held + 1, 1 << 20,
        (1 << 20) + 1,
    ]

    @Test(arguments: sizes, [true, false]) func bodyBecomesOneSegment(size: Int, isDeclared: Bool) throws {
        let body = content(size)
        let object = try put(body, declared: isDeclared ? Int64(size) : nil)
        #expect(object.etag == ETag.whole(md5: Digest.md5(body), .oss))
        #expect(try keys() == ["gateway/data/\(object.fileID.prefix(2))/\(object.fileID)"])
        #expect(try store.client().get() == body)
    }

    @Test(arguments: sizes, [true, false]) func bodyWithAnotherMD5LeavesNoKey(size: Int, isDeclared: Bool) throws {
        let body = content(size)
        let checks = BodyChecks(contentMD5: Digest.md5(content(size + 1, seed: 2)))
        #expect(throws: ObjectStoreError.md5Mismatch) {
            try put(body, declared: isDeclared ? Int64(size) : nil, checks: checks)
        }
        #expect(try keys().isEmpty)
        #expect(try store.files().isEmpty)
    }

    @Test func abandonedBodyLeavesNoKey() throws {
        let permit = WritePermit(claims: store.claims(), policy: store.policy)
        let put = try ObjectPut(
            store.store, permit: permit, length: 2 << 20, checks: BodyChecks(), header: ObjectHeader())
        content(1 << 20).withUnsafeBytes(put.receive)
        put.abandon()
        #expect(try keys().isEmpty)
    }

    /// A bucket whose ETags are no MD5 compares that of the request, and one without DeleteObjects removes one key at a time.
    @Test func otherBucketsKeepAndRemoveBytes() throws {
        let report = BucketReport(honorsConditions: false, hasMD5ETags: false, removesMany: false)
        let engine = try TestBucket.makeEngine(spoolFolder: folder.path, report)
        let store = try TestStore(inMemory: true, engine: engine)
        let body = content(400_000)
        for seed in 1...3 {
            #expect(try store.client(uploadID: "upload-\(seed)").put(body).status == 200)
            #expect(try store.client(uploadID: "upload-\(seed)").get() == body)
        }
        for seed in 1...2 {
            let claims = store.claims(uploadID: "upload-\(seed)")
            try store.store.delete(WritePermit(claims: claims, policy: store.policy))
        }
        #expect(try store.files().count == 1)
    }

    @Test func spaceOfSlowBodiesIsLimited() throws {
        #expect(throws: StorageFailure.self) { try put(content(3 << 20), declared: nil) }
        #expect(try keys().isEmpty)
        #expect(try put(content(1 << 20), declared: nil).size == 1 << 20)
    }

    @Test func keySaysWhatItsBytesAre() throws {
        let purpose = FilePurpose(
            StoredObject.Place(bucket: "bucket", key: "a/ü b", uploadID: "upload-1"),
            part: FilePurpose.Part(7, of: "A1", fileID: "F1"))
        let label = SegmentLabel(purpose, storeID: "s", at: UnixTime(seconds: 5))
        let metadata = Dictionary(uniqueKeysWithValues: label.metadata.map { ($0.name, $0.value) })
        #expect(SegmentLabel(metadata) == label)
        #expect(metadata.values.allSatisfy { $0.utf8.allSatisfy { (0x21...0x7E).contains($0) } })
        #expect(SegmentLabel(["store": "s"]) == nil)
    }

    /// Also those of copies, and with parts left out.
    @Test func smallPartsBecomeOneSegment() throws {
        let client = store.client()
        let id = try client.initiate()
        let parts = (1...50).map { content(100 + $0, seed: UInt64($0)) }
        for (number, part) in parts.enumerated() {
            #expect(try client.part(2 * number + 1, of: id, part).status == 200)
        }
        #expect(try keys().count == 50)
        #expect(try client.completeAll(id).status == 200)
        let etag = try client.send("GET").fields["etag"]
        try store.copy("upload-1", to: "upload-2")
        #expect(try store.files().count == 2)
        #expect(try keys().count == 1)
        for name in ["upload-1", "upload-2"] {
            let response = try store.client(uploadID: name).send("GET")
            #expect(response.body == Array(parts.joined()) && response.fields["etag"] == etag)
        }
        #expect(try store.snapshot().object?.partCount == 50)
        for name in ["upload-1", "upload-2"] { try store.delete(name) }
        #expect(try store.files().isEmpty)
        #expect(try keys().isEmpty)
    }

    /// An earlier process ended before it merged them.
    @Test func smallPartsAreMergedAfterARestart() throws {
        let client = store.client()
        let id = try client.initiate()
        for number in 1...3 { #expect(try client.part(number, of: id, [UInt8(number)]).status == 200) }
        store.store.stopBackgroundWork()
        #expect(try client.completeAll(id).status == 200)
        #expect(try keys().count == 3)
        try store.restart()
        #expect(try store.files().count == 1)
        #expect(try keys().count == 1)
        #expect(try store.client().get() == [1, 2, 3])
    }

    /// The reader gets the bytes that it began with, however the object ends.
    @Test(arguments: [true, false]) func readerKeepsItsBytes(isReplaced: Bool) throws {
        let client = store.client()
        let id = try client.initiate()
        let parts = (1...10).map { content(100_000, seed: UInt64($0)) }
        for (number, part) in parts.enumerated() { #expect(try client.part(number + 1, of: id, part).status == 200) }
        #expect(try client.completeAll(id).status == 200)
        let object = try #require(try store.snapshot().object)
        do {
            let bytes = try store.store.open(object)
            var read = try first(250_000, of: bytes)
            if isReplaced {
                #expect(try client.put([1, 2, 3]).status == 200)
            } else {
                try store.store.delete(WritePermit(claims: store.claims(), policy: store.policy))
            }
            store.store.work.removals.drain()
            // The object is gone, although its bytes are still there.
            #expect(try store.snapshot().object?.fileID != object.fileID)
            read += try rest(of: bytes, from: Int64(read.count))
            #expect(read == Array(parts.joined()))
        }
        store.store.work.removals.resume()
        #expect(try store.files().count == (isReplaced ? 1 : 0))
    }

    /// The sweep may remove a file while the removal after its deletion waits, and a file has the id of its first segment.
    @Test func repeatedRemovalKeepsTheBytesOfACopy() async throws {
        let object = try put(content(1000), declared: 1000)
        try await store.store.describe(object.fileID, Array("facts".utf8))
        let copy = engine.duplicate(object.fileID)
        try copy.commit {
            try store.database.writeBlocking { [engine, id = copy.id] in try engine.record(id, nil, in: $0) }
        }
        for _ in 1...2 { #expect(try engine.removeDurably([object.fileID]) == [object.fileID]) }
        #expect(try keys().count == 1)
        #expect(try engine.open(copy.id).size() == 1000)
        #expect(try !engine.hasFacts(of: object.fileID))
        #expect(try engine.removeDurably([copy.id]) == [copy.id])
        #expect(try keys().isEmpty)
    }

    @Test func changedBytesAreNotPassedOnWhole() throws {
        let body = content(300_000)
        let object = try put(body, declared: 300_000)
        _ = try store.database.writeBlocking { try $0.execute("UPDATE store_segments SET crc64 = crc64 + 1") }
        let bytes = try store.store.open(object)
        #expect(throws: StorageFailure.unreadable(errno: 5)) { try rest(of: bytes, from: 0) }
        // There is no checksum of some of the bytes.
        #expect(try rest(of: bytes, from: 1) == Array(body[1...]))
    }

    private func first(_ count: Int, of bytes: any StoredBytes) throws -> [UInt8] {
        var read: [UInt8] = []
        var buffer = [UInt8](repeating: 0, count: 50_000)
        while read.count < count {
            let count = try buffer.withUnsafeMutableBytes { try bytes.read(into: $0, at: Int64(read.count)) }
            read += buffer[..<count]
        }
        return read
    }

    private func rest(of bytes: any StoredBytes, from start: Int64) throws -> [UInt8] {
        var read: [UInt8] = []
        var buffer = [UInt8](repeating: 0, count: 50_000)
        while true {
            let count = try buffer.withUnsafeMutableBytes { try bytes.read(into: $0, at: start + Int64(read.count)) }
            if count == 0 { return read }
            read += buffer[..<count]
        }
    }
}
