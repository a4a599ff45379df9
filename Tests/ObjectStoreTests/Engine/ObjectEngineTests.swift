import Basics
import Crypto
import Database
import Foundation
import StoreProtocol
import Synchronization
import TestSupport
import Testing

@testable import ObjectStore

/// The store over an engine other than the directory.
@Suite(.timeLimited) final class ObjectEngineTests {
    private struct Policy: AccessPolicy {
        func decide(_ claims: CredentialClaims, in connection: ReadConnection) throws -> AccessDecision {
            .allowed(partSize: 65_536, needsActivity: false)
        }

        func excess(_ claims: CredentialClaims, bytes: Int64, in connection: ReadConnection) throws -> String? { nil }
        func recordActivity(uploadID: String, in transaction: Connection) throws {}
    }

    private let engine = MemoryEngine()
    private let directory: URL
    private let database: Database
    private let store: ObjectStore
    private let claims = CredentialClaims(
        uploadID: "upload-1", bucket: "bucket", key: "uploads/upload-1", operations: [.read, .write],
        expiresAt: UnixTime(microseconds: .max), holder: .init(.apiKey(id: "key", epoch: 1), of: 1))

    init() throws {
        directory = FileManager.default.temporaryDirectory.appending(path: "engine-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: directory, withIntermediateDirectories: true)
        database = try Database(path: directory.appending(path: "db").path, migrations: ObjectStore.migrations)
        var configuration = ObjectStoreConfiguration()
        configuration.engine = { [engine] _ in engine }
        store = try ObjectStore(
            directory: directory.appending(path: "store").path, database: database,
            keyring: Keyring(root: Secret([UInt8](repeating: 1, count: 32))), configuration: configuration)
        // The reconciler compares the rows with the directory, which has none of their files.
        store.work.reconciler.drain()
    }

    deinit {
        store.close()
        database.close()
        try? FileManager.default.removeItem(at: directory)
    }

    private var permit: WritePermit { WritePermit(claims: claims, policy: Policy()) }

    private func send(_ number: Int, of multipartID: String, _ bytes: [UInt8]) throws {
        let start = store.startPart(number, of: multipartID, length: Int64(bytes.count))
        let decided = try store.decide(claims, Policy(), part: start)
        #expect(decided.decision == .allowed(partSize: 65_536, needsActivity: false))
        let part = try PartUpload(store, permit: permit, start: start, checks: BodyChecks())
        bytes.withUnsafeBytes(part.receive)
        #expect(try part.finish().md5 == Digest.md5(bytes))
    }

    private func put(_ bytes: [UInt8]) throws -> StoredObject {
        let put = try ObjectPut(
            store, permit: permit, length: Int64(bytes.count), checks: BodyChecks(), header: ObjectHeader())
        bytes.withUnsafeBytes(put.receive)
        return try put.finish()
    }

    @Test func completesAnUploadWhosePartsCameInAnyOrderAndTwice() async throws {
        let body = content(150_000)
        let parts = [body[..<65_536], body[65_536..<131_072], body[131_072...]].map(Array.init)
        let id = try store.initiateMultipart(permit, checksum: nil).id
        try send(3, of: id, parts[2])
        try send(1, of: id, content(65_536, seed: 2))
        try send(2, of: id, parts[1])
        // Other bytes than the acknowledged ones: they go to a file of their own, which Complete copies.
        try send(1, of: id, parts[0])
        #expect(engine.files.withLock { $0.count } == 2)
        let object = try store.completeMultipart(id, nil, permit, etags: .oss)
        #expect(object.size == Int64(body.count) && object.partCount == 3)
        #expect(try await store.contents(of: object) == body)
        #expect(try await store.examine(uploadID: "upload-1") { _ in } == .intact)
        store.work.removals.drain()
        #expect(engine.files.withLock { $0.mapValues(\.isFinished) } == [object.fileID: true])
        #expect(engine.pending.withLock { $0.isEmpty })
    }

    @Test func keepsOnlyTheLatestOfTwoObjects() async throws {
        _ = try put(content(10))
        let object = try put(content(2_000_000))
        store.work.removals.drain()
        #expect(engine.files.withLock { Array($0.keys) } == [object.fileID])
        #expect(try await store.contents(of: object) == content(2_000_000))
    }

    @Test func leavesNothingOfAnAbortedUpload() throws {
        let id = try store.initiateMultipart(permit, checksum: nil).id
        let start = store.startPart(1, of: id, length: 10)
        _ = try store.decide(claims, Policy(), part: start)
        let part = try PartUpload(store, permit: permit, start: start, checks: BodyChecks())
        try store.abortMultipart(id, claims)
        content(10).withUnsafeBytes(part.receive)
        #expect(throws: (any Error).self) { try part.finish() }
        store.work.removals.drain()
        #expect(engine.files.withLock { $0.isEmpty })
    }

    @Test func writesNoFileToTheDirectory() throws {
        _ = try put(content(10))
        #expect(try DirectoryEngine.folders.allSatisfy { try store.data.files(inFolder: $0).isEmpty })
    }
}
