import Basics
import Crypto
import Dispatch
import Foundation
import Glibc
import HTTPServer
import HTTPTestClient
import HTTPTypes
import Sockets
import StoreServer
import StoreTesting
import Synchronization
import TestSupport
import Testing

@testable import DirectoryEngine
@testable import ObjectStore
@testable import StoreProtocol

/// Bodies of several blocks, with and without the page cache.
@Suite(.timeLimited, .onDirectory) struct BodyPipelineTests {
    private static let block = AlignedBlock.size
    /// Not a multiple of a block: the next part begins within one.
    private static let partSize = 2 * block + 4096

    private func store(_ directIO: DirectIO, _ calls: FileCalls = FileCalls()) throws -> TestStore {
        var files = DirectoryConfiguration()
        files.directIO = directIO
        files.calls = calls
        let store = try TestStore(files: files)
        store.policy.decision.withLock { $0 = .allowed(partSize: Int64(Self.partSize), needsActivity: false) }
        return store
    }

    /// Returns file calls whose `failing`th write of a whole block fails.
    private func calls(failingBlock failing: Int, errno code: Int32) -> FileCalls {
        let blocks = Counter()
        var calls = FileCalls()
        calls.write = { descriptor, bytes, count, offset in
            if count >= DataFile.slice, offset.isMultiple(of: Self.block), blocks.next() == failing {
                errno = code
                return -1
            }
            return pwrite(descriptor, bytes, count, offset)
        }
        return calls
    }

    @Test(arguments: [DirectIO.probe, .off], [0, 1, 4096, block - 1, block, block + 1, 5 * block, 5 * block + 7])
    func writesWhatItWasGiven(directIO: DirectIO, size: Int) throws {
        let store = try store(directIO)
        let new = try store.store.data.create(length: nil)
        store.store.data.keep(new.id)
        let sink = try store.store.data.receivePart(at: 4096, of: new.id)
        let pipeline = store.store.pipeline(BodyChecks(), into: sink)
        let body = content(size)
        // Pieces of any length, at any address.
        var rest = body[...]
        var length = 1
        while !rest.isEmpty {
            try rest.prefix(length).withUnsafeBytes { try pipeline.append($0) }
            rest = rest.dropFirst(length)
            length *= 3
        }
        let stored = try pipeline.finish()
        #expect(stored.size == Int64(size) && stored.md5 == Digest.md5(body))
        try pipeline.synchronizeAndClose()
        let written = try #require(try PrivateFile.read(store.path(new.id)))
        #expect(written.count == (size == 0 ? 0 : 4096 + size))
        #expect(written.dropFirst(4096).elementsEqual(body))
    }

    @Test(arguments: [DirectIO.probe, .off])
    func takesPartsInParallel(directIO: DirectIO) throws {
        let store = try store(directIO)
        let client = store.client()
        let id = try client.initiate()
        let body = content(4 * Self.partSize + Self.block + 5)
        let statuses = Lock<[Int]>([])
        DispatchQueue.concurrentPerform(iterations: 5) { index in
            let piece = Array(body[(index * Self.partSize)...].prefix(Self.partSize))
            let status = (try? client.part(index + 1, of: id, piece))?.status ?? 0
            statuses.withLock { $0.append(status) }
        }
        #expect(statuses.withLock { $0 } == [Int](repeating: 200, count: 5))
        #expect(try client.completeAll(id).status == 200)
        #expect(try client.get() == body)
    }

    @Test(arguments: [DirectIO.probe, .off])
    func putsAnObjectOfManyBlocks(directIO: DirectIO) throws {
        let store = try store(directIO)
        let body = content(3 * Self.block + 100)
        #expect(try store.client().put(body).status == 200)
        #expect(try store.client().get() == body)
    }

    @Test(arguments: [DirectIO.probe, .off], [(1, ENOSPC), (2, ENOSPC), (2, EIO)])
    func recordsNothingOfAPartWhoseBlockFails(directIO: DirectIO, failure: (block: Int, errno: Int32)) throws {
        let store = try store(directIO, calls(failingBlock: failure.block, errno: failure.errno))
        let client = store.client()
        let id = try client.initiate()
        let body = content(Self.partSize)
        #expect(try client.part(1, of: id, body).error == "503 ServiceUnavailable")
        #expect(try store.snapshot().multiparts == [.init(id: id, partCount: 0)])
        #expect(try client.part(1, of: id, body).status == 200)
        #expect(try client.completeAll(id).status == 200)
        #expect(try client.get() == body)
    }

    @Test(arguments: [DirectIO.probe, .off])
    func keepsNothingOfAnObjectWhoseBlockFails(directIO: DirectIO) throws {
        let store = try store(directIO, calls(failingBlock: 3, errno: EIO))
        #expect(try store.client().put(content(5 * Self.block)).error == "503 ServiceUnavailable")
        #expect(try store.files().isEmpty)
        #expect(try store.snapshot().object == nil)
    }

    @Test(arguments: [DirectIO.probe, .off])
    func recordsNothingThatWasNotSynced(directIO: DirectIO) throws {
        let syncs = Counter()
        var calls = FileCalls()
        calls.synchronize = { descriptor in
            if syncs.next() <= 2 {
                errno = EIO
                return -1
            }
            return fdatasync(descriptor)
        }
        let store = try store(directIO, calls)
        let client = store.client()
        let id = try client.initiate()
        let body = content(Self.partSize)
        #expect(try client.part(1, of: id, body).error == "503 ServiceUnavailable")
        #expect(try store.snapshot().multiparts == [.init(id: id, partCount: 0)])
        #expect(try store.client(uploadID: "upload-2").put(body).error == "503 ServiceUnavailable")
        #expect(try store.snapshot("upload-2").object == nil)
        #expect(try store.files().count == 1)
        #expect(try client.part(1, of: id, body).status == 200)
        #expect(syncs.next() == 4)
    }

    /// The place of a part is only released to the next connection when no write to it is in progress any more.
    @Test func cancelsWhenTheWriteInFlightHasReturned() throws {
        let entered = DispatchSemaphore(value: 0)
        let leave = DispatchSemaphore(value: 0)
        let order = Lock<[String]>([])
        var calls = FileCalls()
        calls.write = { _, _, count, _ in
            entered.signal()
            try? leave.waitForSignal()
            order.withLock { $0.append("written") }
            return count
        }
        let store = try store(.off, calls)
        let new = try store.store.data.create(length: nil)
        let pipeline = store.store.pipeline(BodyChecks(), into: new.sink)
        try content(2 * Self.block).withUnsafeBytes { try pipeline.append($0) }
        try entered.waitForSignal()
        let release = TestThread {
            for _ in 0..<2 * Self.block / DataFile.slice { leave.signal() }
        }
        pipeline.cancel()
        order.withLock { $0.append("cancelled") }
        try release.join()
        // The second block is not begun once the cancellation is known.
        let seen = order.withLock { $0 }
        #expect(seen.first == "written")
        #expect(seen.firstIndex(of: "cancelled") == seen.count - 1)
    }

    @Test func asksBeforeEachWrite() throws {
        let store = try store(.probe)
        let new = try store.store.data.create(length: nil)
        let checks = Counter()
        let pipeline = store.store.pipeline(BodyChecks(), into: new.sink) { write in
            if checks.next() == 2 { throw WritesInFlight.Revoked() }
            try write()
        }
        #expect(throws: WritesInFlight.Revoked.self) {
            try content(2 * Self.block + 1).withUnsafeBytes { try pipeline.append($0) }
            _ = try pipeline.finish()
        }
        #expect(try Data(contentsOf: URL(filePath: store.path(new.id))).count == Self.block)
    }

    @Test func requestsShareTheMemoryForBlocks() throws {
        var configuration = ObjectStoreConfiguration()
        configuration.bufferBytes = Int64(4 * Self.block)
        let metrics = ConnectionMetrics()
        let store = try TestStore(configuration) { $0.daemon.metrics = metrics }
        // One that may need three blocks, and whose client is slow.
        let body = content(10 * Self.block)
        let large = try RawConnection(port: store.server.port)
        try large.send(store.client().head("PUT", length: body.count, fields: ["Expect": "100-continue"]))
        #expect(try large.response().status == 100)
        #expect(try store.client(uploadID: "upload-2").put(content(Self.block + 1)).error == "503 SlowDown")
        #expect(try store.client(uploadID: "upload-2").put(content(100)).status == 200)
        #expect(try store.files().count == 2)
        #expect(metrics.limits == ["buffer_bytes": 1])
        try large.send(body)
        #expect(try large.response().status == 200)
        #expect(try store.client(uploadID: "upload-2").put(content(3 * Self.block)).status == 200)
    }

    /// The document of a Complete is kept in memory as a whole, and so is its parsed form.
    @Test func documentsTakeTheirShareOfTheMemory() throws {
        let threads = BlockThreads(memory: Int64(8 * Self.block))
        let owners = ["a", "b", "c"].map(WorkOwner.staticKey)
        let first = threads.documentShare(length: Int64(4 * Self.block), for: owners[0])
        let second = threads.documentShare(length: Int64(Self.block) + 1, for: owners[1])
        #expect(first != nil && second != nil)
        #expect(threads.documentShare(length: 100, for: owners[2]) != nil)
        let last = threads.documentShare(length: 100, for: owners[2])
        #expect(last != nil)
        #expect(threads.documentShare(length: 100, for: owners[2]) == nil)
        #expect(threads.share(length: 1, for: owners[2]) == nil)
        withExtendedLifetime((first, second, last)) {}
    }

    @Test func returnedBlockIsTakenAgain() {
        let threads = BlockThreads()
        let block = threads.takeBlock()
        threads.giveBack(block)
        #expect(threads.takeBlock() === block)
        #expect(threads.takeBlock() !== block)
    }
}

/// Counts calls from any thread, starting at 1.
private final class Counter: Sendable {
    private let count = Lock(0)

    func next() -> Int {
        count.withLock {
            $0 += 1
            return $0
        }
    }
}
