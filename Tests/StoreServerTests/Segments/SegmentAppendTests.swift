import Basics
import Crypto
import Database
import HTTPTestClient
import StoreTesting
import TestSupport
import Testing

@testable import ObjectStore
@testable import S3Engine
@testable import StoreProtocol
@testable import StoreServer

/// Appends to objects in a bucket.
@Suite(.timeLimited) struct SegmentAppendTests {
    private let folder: TestFolder
    private let engine: S3Engine
    private let store: TestStore
    private let bucket: TestBucket

    init() throws {
        folder = try TestFolder(inMemory: true)
        engine = try TestBucket.makeEngine(spoolFolder: folder.path)
        store = try TestStore(inMemory: true, engine: engine)
        bucket = try #require(TestBucket.of(engine))
        store.anySizes()
    }

    private func begin(_ count: Int, at position: Int, _ checks: BodyChecks = BodyChecks()) throws -> ObjectAppend {
        try ObjectAppend(
            store.store, permit: WritePermit(claims: store.claims(), policy: store.policy), at: Int64(position),
            Payload(length: Int64(count), checks: checks), header: ObjectHeader())
    }

    @discardableResult
    private func append(_ bytes: [UInt8], at position: Int) throws -> StoredObject {
        let append = try begin(bytes.count, at: position)
        bytes.withUnsafeBytes(append.receive)
        return try append.finish()
    }

    /// Returns the number of bytes that are sent to the bucket by `body`.
    private func sentBytes(_ body: () throws -> Void) rethrows -> Int {
        let before = engine.bucket.activity.sentBytes
        try body()
        return engine.bucket.activity.sentBytes - before
    }

    /// Returns the sizes of all segments, the smallest first, once the others are removed.
    private func segments() throws -> [Int64] {
        _ = try store.files()
        return try bucket.sizes(ofKeysWith: "/data/")
    }

    private func scheduled() throws -> [String] {
        try store.database.readBlocking { try StoreRecords($0).scheduledRemovals(after: "", limit: 100) }
    }

    private func code(_ body: () throws -> Void) -> StoreError.Code? {
        do {
            try body()
            return nil
        } catch {
            return StoreError(error).code
        }
    }

    @Test func hundredAppendsSendTheirBytesOnce() throws {
        let size = 100 << 10
        let bodies = (0..<100).map { content(size, seed: UInt64($0)) }
        let sent = try sentBytes {
            for (index, body) in bodies.enumerated() { try append(body, at: index * size) }
        }
        #expect(sent == 100 * size)
        let all = Array(bodies.joined())
        let object = try store.withObject(store.claims()) { $0 }
        #expect(object.size == Int64(all.count) && object.etag == ETag.whole(md5: Digest.md5(all), .oss))
        #expect(try store.client().get() == all)
        #expect(try store.files() == [object.fileID])
        #expect(try segments() == [Int64](repeating: Int64(size), count: 100))
        try store.delete("upload-1")
        #expect(try segments().isEmpty)
    }

    @Test(arguments: [0, 1, 63, 64, 65, 300_000]) func sumsAreThoseOfAllBytes(size: Int) throws {
        let bodies = [content(size, seed: 1), content(100, seed: 2), content(size, seed: 3)]
        var position = 0
        var object: StoredObject?
        for body in bodies {
            object = try append(body, at: position)
            position += body.count
        }
        let whole = Array(bodies.joined())
        _ = try store.client(uploadID: "upload-2").put(whole)
        let other = try store.withObject(store.claims(uploadID: "upload-2")) { $0 }
        let appended = try #require(object)
        #expect(appended.etag == other.etag && appended.crc64 == other.crc64 && appended.crc32 == other.crc32)
        #expect(try store.client().get() == whole)
    }

    @Test func bodyWithAnotherMD5IsNotAppended() throws {
        try append([1], at: 0)
        let checks = BodyChecks(contentMD5: Digest.md5([3]))
        #expect(throws: ObjectStoreError.md5Mismatch) {
            let append = try begin(1, at: 1, checks)
            [UInt8(2)].withUnsafeBytes(append.receive)
            _ = try append.finish()
        }
        #expect(try store.client().get() == [1])
        #expect(try segments() == [1])
    }

    /// A process that ends before the commit leaves what the next one removes.
    @Test func removalIsScheduledUntilTheCommit() throws {
        try append([1], at: 0)
        let body = content(600_000)
        let pending = try begin(body.count, at: 1)
        body.withUnsafeBytes(pending.receive)
        #expect(try scheduled().count == 1)
        store.store.work.removals.resume()
        store.store.work.removals.drain()
        _ = try pending.finish()
        #expect(try scheduled().isEmpty)
        #expect(try store.client().get() == [1] + body)

        store.policy.bytesLeft.withLock { $0 = 0 }
        let refused = try begin(10, at: 600_001)
        content(10).withUnsafeBytes(refused.receive)
        #expect(throws: ObjectStoreError.self) { try refused.finish() }
        #expect(try scheduled().count == 1)
        #expect(try segments() == [1, 600_000])
        #expect(try scheduled().isEmpty)
    }

    @Test func copyKeepsItsBytes() throws {
        try append([1, 2], at: 0)
        try append([3], at: 2)
        try store.copy("upload-1", to: "upload-2")
        // All bytes once more, because the segments are the copy's, too.
        try append([4], at: 3)
        #expect(try segments() == [1, 2, 4])
        try append([5], at: 4)
        #expect(try segments() == [1, 1, 2, 4])
        #expect(try store.client().get() == [1, 2, 3, 4, 5])
        #expect(try store.client(uploadID: "upload-2").get() == [1, 2, 3])
        try store.delete("upload-1")
        #expect(try store.client(uploadID: "upload-2").get() == [1, 2, 3])
        #expect(try segments() == [1, 2])
    }

    @Test func copyDuringAnAppendIsAnsweredWithARetry() throws {
        try append([1], at: 0)
        let pending = try begin(1, at: 1)
        [UInt8(2)].withUnsafeBytes(pending.receive)
        try store.copy("upload-1", to: "upload-2")
        #expect(code { _ = try pending.finish() } == .serviceUnavailable)
        try append([2], at: 1)
        #expect(try store.client().get() == [1, 2])
        #expect(try store.client(uploadID: "upload-2").get() == [1])
        #expect(try segments() == [1, 2])
    }

    @Test func readerUnderWayEndsWithTheBytesOfBefore() throws {
        let first = content(300_000)
        let object = try append(first, at: 0)
        let bytes = try store.store.bytes(of: object.fileID)
        try append([7], at: first.count)
        var read: [UInt8] = []
        try bytes.forEachPiece { read += $0 }
        #expect(read == first)
        #expect(throws: StorageFailure.missing) { try store.store.bytes(of: object.fileID) }
    }

    @Test func secondOfTwoAppendsAtAPositionIsRefused() throws {
        try append([1], at: 0)
        let pending = try begin(1, at: 1)
        [UInt8(9)].withUnsafeBytes(pending.receive)
        try append([2], at: 1)
        #expect(code { _ = try pending.finish() } == .positionNotEqualToLength)
        #expect(try store.client().get() == [1, 2])
        #expect(try segments() == [1, 1])
    }

    @Test func manySegmentsBecomeOne() throws {
        try append([1], at: 0)
        try append([2], at: 1)
        _ = try store.database.writeBlocking {
            try $0.execute("UPDATE store_segments SET number = $1 WHERE number = 2", S3Engine.mostAppended)
        }
        try append([3], at: 2)
        #expect(try store.client().get() == [1, 2, 3])
        #expect(try segments() == [3])
        try append([4], at: 3)
        #expect(try segments() == [1, 3])
    }

    @Test func smallSegmentsAreMergedAtAStart() throws {
        for index in 0..<5 { try append([UInt8(index)], at: index) }
        try store.restart(isClean: true)
        #expect(try segments() == [5])
        try append([5], at: 5)
        #expect(try segments() == [1, 5])
        #expect(try store.client().get() == [0, 1, 2, 3, 4, 5])
    }

    /// An earlier version recorded no state.
    @Test func objectWithoutTheStateOfItsMD5IsWrittenOnce() throws {
        try append([1], at: 0)
        _ = try store.database.writeBlocking { try $0.execute("UPDATE store_objects SET md5_state = NULL") }
        try append([2], at: 1)
        #expect(try segments() == [2])
        try append([3], at: 2)
        #expect(try segments() == [1, 2])
        let object = try store.withObject(store.claims()) { $0 }
        #expect(object.etag == ETag.whole(md5: Digest.md5([1, 2, 3]), .oss))
    }
}
