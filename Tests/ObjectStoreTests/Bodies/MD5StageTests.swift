import Basics
import Crypto
import Dispatch
import TestSupport
import Testing

@testable import ObjectStore

/// The MD5 of blocks of several bodies.
@Suite(.timeLimited) struct MD5StageTests {
    private static func block(_ seed: UInt64) -> AlignedBlock {
        let block = AlignedBlock()
        block.bytes.copyBytes(from: content(AlignedBlock.size, seed: seed))
        return block
    }

    /// Records the calls of the stage, in order.
    private final class Record: Sendable {
        let events = Lock<[String]>([])
        let isDone = DispatchSemaphore(value: 0)

        func note(_ event: String) { events.withLock { $0.append(event) } }

        /// Adds a block that is needed unless its name is among `unneeded`.
        func add(_ name: String, _ block: AlignedBlock, to body: BodyMD5, _ stage: MD5Stage, unneeded: [String] = []) {
            stage.add(block, to: body) {
                self.note("hash \(name)")
                return !unneeded.contains(name)
            } then: {
                self.note("done \(name)")
                self.isDone.signal()
            }
        }

        func wait(for count: Int) throws {
            for _ in 0..<count { try isDone.waitForSignal() }
        }
    }

    /// Returns a stage whose work begins when the queue is resumed.
    private func suspended(groupSize: Int) -> (queue: DispatchQueue, stage: MD5Stage) {
        let queue = DispatchQueue(label: "test", attributes: .concurrent)
        queue.suspend()
        return (queue, MD5Stage(on: queue, threads: 1, groupSize: groupSize))
    }

    @Test func waitingBlocksOfDifferentBodiesAreOneGroup() throws {
        let (queue, stage) = suspended(groupSize: 8)
        let bodies = (0..<3).map { _ in BodyMD5() }
        let record = Record()
        for (number, body) in bodies.enumerated() {
            record.add("\(number)", Self.block(UInt64(number)), to: body, stage)
        }
        queue.resume()
        try record.wait(for: 3)
        #expect(record.events.withLock { $0 } == ["hash 0", "hash 1", "hash 2", "done 0", "done 1", "done 2"])
        for (number, body) in bodies.enumerated() {
            #expect(body.value.finalize() == Digest.md5(content(AlignedBlock.size, seed: UInt64(number))))
        }
    }

    /// A body with many blocks does not come before others, and its own stay in order.
    @Test func bodiesTakeTurns() throws {
        let (queue, stage) = suspended(groupSize: 2)
        let bodies = (0..<3).map { _ in BodyMD5() }
        let record = Record()
        for number in 0..<2 { record.add("a\(number)", Self.block(UInt64(number)), to: bodies[0], stage) }
        record.add("b", Self.block(2), to: bodies[1], stage)
        record.add("c", Self.block(3), to: bodies[2], stage)
        queue.resume()
        try record.wait(for: 4)
        let groups = ["hash a0", "hash b", "done a0", "done b", "hash c", "hash a1", "done c", "done a1"]
        #expect(record.events.withLock { $0 } == groups)
        let both = content(AlignedBlock.size, seed: 0) + content(AlignedBlock.size, seed: 1)
        #expect(bodies[0].value.finalize() == Digest.md5(both))
    }

    @Test func failedBodyLeavesOthersInItsGroup() throws {
        let (queue, stage) = suspended(groupSize: 8)
        let bodies = (0..<2).map { _ in BodyMD5() }
        let record = Record()
        record.add("failed", Self.block(0), to: bodies[0], stage, unneeded: ["failed"])
        record.add("other", Self.block(1), to: bodies[1], stage)
        queue.resume()
        try record.wait(for: 2)
        #expect(bodies[0].value.finalize() == Digest.md5([]))
        #expect(bodies[1].value.finalize() == Digest.md5(content(AlignedBlock.size, seed: 1)))
    }

    @Test func bodiesUseThreadsUpToTheMaximum() throws {
        let queue = DispatchQueue(label: "test", attributes: .concurrent)
        queue.suspend()
        let stage = MD5Stage(on: queue, threads: 2)
        let record = Record()
        let block = Self.block(0)
        let threads = (0..<3).map { _ in
            record.add("", block, to: BodyMD5(), stage)
            return stage.threads
        }
        queue.resume()
        try record.wait(for: 3)
        #expect(threads == [1, 2, 2])
    }

    /// Adds the blocks to a new body, of which two wait at most, like those of a body that is received.
    private func digest(_ blocks: [AlignedBlock], _ stage: MD5Stage) throws -> [UInt8] {
        let body = BodyMD5()
        let record = Record()
        for (index, block) in blocks.enumerated() {
            record.add("", block, to: body, stage)
            if index > 0 { try record.wait(for: 1) }
        }
        try record.wait(for: min(1, blocks.count))
        return body.value.finalize()
    }

    @Test(arguments: [1, 2])
    func manyBodiesHaveTheirDigests(threads: Int) throws {
        let stage = MD5Stage(on: DispatchQueue(label: "test", attributes: .concurrent), threads: threads)
        let blocks = (0..<4).map { Self.block(UInt64($0)) }
        let senders = (0..<6).map { sender in
            TestThread {
                let sent = (0..<12).map { blocks[(sender + $0) % blocks.count] }
                let expected = IncrementalDigest(.md5)
                for block in sent { expected.update(UnsafeRawBufferPointer(block.bytes)) }
                #expect((try? digest(sent, stage)) == expected.finalize())
            }
        }
        for sender in senders { try sender.join() }
    }
}
