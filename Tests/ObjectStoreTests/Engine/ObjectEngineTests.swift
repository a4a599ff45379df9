import Basics
import StoreProtocol
import StoreTesting
import Synchronization
import TestSupport
import Testing

@testable import ObjectStore

/// The store over an engine other than the directory.
@Suite(.timeLimited) struct ObjectEngineTests {
    private let engine = MemoryEngine()
    private let scene: EngineScene

    init() throws {
        scene = try EngineScene(engine)
    }

    @Test func completesAnUploadWhosePartsCameInAnyOrderAndTwice() async throws {
        let body = content(150_000)
        let parts = [body[..<65_536], body[65_536..<131_072], body[131_072...]].map(Array.init)
        let id = try scene.store.initiateMultipart(scene.permit, checksum: nil).id
        try scene.send(3, of: id, parts[2])
        try scene.send(1, of: id, content(65_536, seed: 2))
        try scene.send(2, of: id, parts[1])
        // Other bytes than the acknowledged ones: they go to a file of their own, which Complete copies.
        try scene.send(1, of: id, parts[0])
        #expect(engine.files.withLock { $0.count } == 2)
        let object = try scene.store.completeMultipart(id, nil, scene.permit, etags: .oss)
        #expect(object.size == Int64(body.count) && object.partCount == 3)
        #expect(try await scene.store.contents(of: object) == body)
        #expect(try await scene.store.examine(uploadID: "upload-1") { _ in } == .intact)
        scene.store.work.removals.drain()
        #expect(engine.files.withLock { $0.mapValues(\.isFinished) } == [object.fileID: true])
        #expect(engine.pending.withLock { $0.isEmpty })
    }

    @Test func keepsOnlyTheLatestOfTwoObjects() async throws {
        _ = try scene.put(content(10))
        let object = try scene.put(content(2_000_000))
        scene.store.work.removals.drain()
        #expect(engine.files.withLock { Array($0.keys) } == [object.fileID])
        #expect(try await scene.store.contents(of: object) == content(2_000_000))
    }

    @Test func leavesNothingOfAnAbortedUpload() throws {
        let id = try scene.store.initiateMultipart(scene.permit, checksum: nil).id
        let start = scene.store.startPart(1, of: id, length: 10)
        _ = try scene.store.decide(scene.claims, EngineScene.Policy(), part: start)
        let part = try PartUpload(scene.store, permit: scene.permit, start: start, checks: BodyChecks())
        try scene.store.abortMultipart(id, scene.claims)
        content(10).withUnsafeBytes(part.receive)
        #expect(throws: (any Error).self) { try part.finish() }
        scene.store.work.removals.drain()
        #expect(engine.files.withLock { $0.isEmpty })
    }
}
