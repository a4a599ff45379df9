import Basics
import Crypto
import Dispatch
import StoreProtocol
import StoreTesting
import Synchronization
import TestSupport
import Testing

@testable import ObjectStore

/// The way of bodies to an engine's sinks.
@Suite(.timeLimited) struct BodyFlowTests {
    private static let sizes = [0, 1, AlignedBlock.size - 1, AlignedBlock.size, AlignedBlock.size + 1, 64 << 20]

    /// An engine that has got all bytes may make them an object on its own, so it must not get the last ones of a wrong body.
    @Test(arguments: sizes, [true, false])
    func lastBytesComeAfterTheDigests(size: Int, sinksMayBlock: Bool) throws {
        let engine = StallingEngine(sinksMayBlock: sinksMayBlock)
        let scene = try EngineScene(engine)
        let wrong = BodyChecks(contentMD5: Digest.md5([1, 2, 3]))
        #expect(throws: ObjectStoreError.md5Mismatch) { try scene.put(content(size), wrong) }
        let sink = try #require(engine.sinks.first)
        #expect(!sink.isFinished && (size == 0 || sink.bytes < size))
        #expect(engine.base.files.withLock { $0.isEmpty })

        let right = BodyChecks(contentMD5: Digest.md5(content(size)))
        #expect(try scene.put(content(size), right).size == Int64(size))
        #expect(engine.sinks[1].isFinished && engine.sinks[1].bytes == size)
    }

    /// Sends a part, on a thread of its own, whose sink stalls.
    private func stall(_ number: Int, of id: String, _ scene: EngineScene) -> TestThread {
        TestThread {
            #expect(throws: (any Error).self) {
                let part = try scene.begin(number, of: id, length: 65_536)
                for piece in [content(1000), content(64_536)] { piece.withUnsafeBytes(part.receive) }
                return try part.finish()
            }
        }
    }

    private func waitForStalls(_ count: Int, of engine: StallingEngine) throws {
        try waitUntil { engine.sinks.count == count }
        for sink in engine.sinks { try sink.isWaiting.waitForSignal() }
    }

    @Test func stalledBodiesDelayNoOtherAndEndWithTheirUpload() throws {
        let engine = StallingEngine(stalling: 8)
        let scene = try EngineScene(engine)
        let id = try scene.store.initiateMultipart(scene.permit, checksum: nil).id
        let stalled = (1...8).map { stall($0, of: id, scene) }
        try waitForStalls(8, of: engine)
        try scene.send(9, of: id, content(65_536))
        try scene.store.abortMultipart(id, scene.claims)
        for thread in stalled { try thread.join() }
        scene.store.work.drain()
        #expect(engine.base.files.withLock { $0.isEmpty })
    }

    @Test func completeEndsPartsThatAreNotListed() throws {
        let engine = StallingEngine(stalling: 1)
        let scene = try EngineScene(engine)
        let id = try scene.store.initiateMultipart(scene.permit, checksum: nil).id
        let stalled = stall(2, of: id, scene)
        try waitForStalls(1, of: engine)
        try scene.send(1, of: id, content(100))
        #expect(try scene.store.completeMultipart(id, nil, scene.permit, etags: .oss).size == 100)
        try stalled.join()
    }
}
