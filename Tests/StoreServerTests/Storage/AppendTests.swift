import Basics
import Crypto
import Foundation
import Glibc
import HTTPTypes
import StoreTesting
import Synchronization
import TestSupport
import Testing

@testable import ObjectStore
@testable import StoreProtocol
@testable import StoreServer

/// Objects that are made of what is at a key: by appending to it, and by copying it to itself.
@Suite(.timeLimited) struct AppendTests {
    private static let key = StaticKey(
        id: "tools", secret: Secret("secret"), bucket: "bucket", prefix: "", access: .write)

    private let store: TestStore

    init() throws {
        store = try TestStore(inMemory: true)
    }

    private var claims: CredentialClaims { Self.key.claims(to: "1", uploadID: nil) }
    private var permit: WritePermit { WritePermit(claims: claims, policy: store.policy) }

    private func begin(_ count: Int, at position: Int64, _ header: ObjectHeader = ObjectHeader()) throws -> ObjectAppend
    {
        try ObjectAppend(
            store.store, permit: permit, at: position, Payload(length: Int64(count), checks: BodyChecks()),
            header: header)
    }

    @discardableResult
    private func append(
        _ bytes: [UInt8], at position: Int64, _ header: ObjectHeader = ObjectHeader()
    ) throws -> StoredObject {
        let append = try begin(bytes.count, at: position, header)
        bytes.withUnsafeBytes(append.receive)
        return try append.finish()
    }

    @discardableResult
    private func put(_ bytes: [UInt8], _ condition: WriteCondition = .none) throws -> StoredObject {
        let put = try ObjectPut(
            store.store, permit: permit, length: Int64(bytes.count), checks: BodyChecks(),
            header: ObjectHeader(condition: condition))
        bytes.withUnsafeBytes(put.receive)
        return try put.finish()
    }

    private func copyToItself(_ header: @escaping @Sendable (StoredObject) -> ObjectHeader) throws -> StoredObject {
        let source = try store.store.decide(claims, store.policy, readsObject: true)
        return try store.store.copy(source, to: permit, conditions: Preconditions([:]), header)
    }

    private func object() throws -> StoredObject { try store.withObject(claims) { $0 } }

    private func bytes() throws -> [UInt8] {
        var bytes: [UInt8] = []
        try store.store.read(object(), 0..<object().size) { bytes += $0 }
        return bytes
    }

    /// Flips the first byte of the object's file, as a disk that says nothing.
    private func damage(_ object: StoredObject) throws {
        let path = store.path(object.fileID)
        #expect(chmod(path, 0o600) == 0)
        let file = try FileHandle(forUpdating: URL(filePath: path))
        let first = try #require(try file.read(upToCount: 1)?.first)
        try file.seek(toOffset: 0)
        try file.write(contentsOf: [first ^ 1])
        try file.close()
    }

    private func code(_ body: () throws -> Void) -> StoreError.Code? {
        do {
            try body()
            return nil
        } catch {
            return StoreError(error).code
        }
    }

    @Test(.onDirectory) func damagedBytesAreNotAppendedTo() throws {
        let first = try append(content(1000), at: 0)
        try damage(first)
        let error = #expect(throws: CorruptedObject.self) { try begin(10, at: 1000) }
        #expect("\(try #require(error))" == "The object bucket/1 is corrupted: its bytes no longer match its checksum.")
        #expect(try object() == first)
        #expect(try store.files() == [first.fileID])
    }

    @Test(.onDirectory) func aWholeObjectIsReadWithItsChecksumAndARangeIsNot() throws {
        let object = try put(content(600_000))
        try damage(object)
        var count = 0
        #expect(throws: CorruptedObject.self) { try store.store.read(object, 0..<object.size) { count += $0.count } }
        try store.store.read(object, 0..<object.size - 1) { count += $0.count }
        #expect(count == 2 * 600_000 - 1)
    }

    @Test func anObjectThatWasReplacedIsNotAppendedTo() throws {
        try append([1, 2, 3], at: 0)
        let pending = try begin(1, at: 3)
        try store.store.delete(permit)
        try append([4, 5, 6], at: 0)
        [UInt8(7)].withUnsafeBytes(pending.receive)
        #expect(code { _ = try pending.finish() } == .positionNotEqualToLength)
        #expect(try bytes() == [4, 5, 6])
        #expect(try store.files().count == 1)
    }

    @Test func tagsThatAreSetDuringAnAppendStay() throws {
        try append([1], at: 0)
        let pending = try begin(1, at: 1)
        let tags = try TagSet(query: "a=b")
        try store.store.setTags(tags, permit)
        [UInt8(2)].withUnsafeBytes(pending.receive)
        _ = try pending.finish()
        #expect(try object().kept.tags == tags && object().kept.isAppendable)
    }

    /// An append that would change other fields is refused, because the object would not get them.
    @Test func laterAppendsSetNoOtherFields() throws {
        let kept = try KeptFields(["x-oss-meta-a": "1"], .oss)
        try append([1], at: 0, ObjectHeader(kept: kept))
        try append([2], at: 1, ObjectHeader(kept: kept))
        let other = ObjectHeader(kept: try KeptFields(["x-oss-meta-a": "2"], .oss))
        #expect(code { try append([3], at: 2, other) } == .invalidArgument)
        #expect(try bytes() == [1, 2])
    }

    @Test func anAppendKeepsItsOtherConditions() throws {
        try append([1], at: 0, ObjectHeader(condition: .forbidOverwrite))
        #expect(code { try append([2], at: 1, ObjectHeader(condition: .forbidOverwrite)) } == .fileAlreadyExists)
    }

    @Test func aCopyToItselfChangesOnlyWhatStandsBesideTheBytes() throws {
        let first = try put(content(1000))
        store.clock.advance(seconds: 60)
        let kept = try KeptFields(["x-amz-meta-a": "b"], .s3)
        _ = try copyToItself { _ in ObjectHeader(contentType: "a/b", kept: kept) }
        let object = try object()
        #expect(object.fileID == first.fileID && object.etag == first.etag)
        #expect(object.contentType == "a/b" && object.kept == kept && object.createdAt == store.clock.now())
        #expect(try bytes() == content(1000))
        store.policy.decision.withLock { $0 = .readOnly(needsActivity: false) }
        #expect(throws: ObjectStoreError.writeDenied) { try copyToItself { _ in ObjectHeader() } }
    }

    @Test func aCopyToItselfNeverBringsReplacedBytesBack() throws {
        try put(content(1000))
        let seen = Lock<[String]>([])
        _ = try copyToItself { found in
            seen.withLock { $0.append(found.fileID) }
            return ObjectHeader(contentType: "a/b")
        }
        // What it looked at is the row of its own transaction: no write comes between the two.
        #expect(try seen.withLock { $0 } == [object().fileID])
        #expect(try store.files() == [object().fileID])
    }

    /// The file may come back, with an administrator's help: what a client must not replace then is not replaced now.
    @Test(.onDirectory) func conditionsSeeAnObjectWhoseFileIsMissing() throws {
        let first = try append(content(10), at: 0)
        let away = store.directory.appending(path: "away").path
        try store.restart { #expect(rename(store.path(first.fileID), away) == 0) }
        #expect(throws: ObjectStoreError.noSuchObject) { try object() }
        #expect(code { try put([1], try WriteCondition(["If-None-Match": "*"])) } == .preconditionFailed)
        #expect(code { try put([1], .forbidOverwrite) } == .fileAlreadyExists)
        #expect(code { try append([1], at: 0) } == .serviceUnavailable)
        try store.restart { #expect(rename(away, store.path(first.fileID)) == 0) }
        #expect(try bytes() == content(10))
        try store.restart { #expect(unlink(store.path(first.fileID)) == 0) }
        try put([2])
        #expect(try bytes() == [2])
    }

    @Test func aPartThatIsTooLongIsRefusedBeforeItIsRead() throws {
        let multipart = try store.store.initiateMultipart(permit, ObjectHeader(), checksum: nil)
        func upload(_ length: Int64) throws -> PartUpload {
            let start = store.store.startPart(1, of: multipart.id, length: nil)
            _ = try store.store.decide(claims, store.policy, part: start)
            return try PartUpload(store.store, permit: permit, start: start, checks: BodyChecks(), length: length)
        }
        let limit = TestStore.partSize
        #expect(throws: ObjectStoreError.partTooLarge(limit: limit, isIssued: true)) { try upload(limit + 1) }
        let part = try upload(limit)
        try content(Int(limit)).withUnsafeBytes(part.append)
        #expect(throws: ObjectStoreError.partTooLarge(limit: limit, isIssued: true)) {
            try [UInt8(1)].withUnsafeBytes(part.append)
        }
    }
}
