import Basics
import Dispatch
import StoreProtocol
import Synchronization

/// Passes a body to a disk in aligned blocks, each of which is written on one thread, while others compute its MD5, together with
/// blocks of other bodies (``MD5Stage``), and its checksums, and the next one is received.
///
/// The memory does not depend on the body's size: one block that is being filled, and two in flight. Blocks are written directly if
/// the file permits it. A full block is passed to those who hash it at once, but written only when more bytes arrive; the last block, or
/// the short end that fills none, is written by the caller, after all others are done: no direct write is in flight when the end is
/// written through the page cache, and it begins at a page boundary, so the two never share a page. A body smaller than a block uses
/// no other thread.
final class BlockFlow: BodyFlow {
    private static let blocksInFlight = 2
    /// The number of blocks that a body can use at the same time: one that is being filled, and those in flight.
    static let blocks = blocksInFlight + 1

    private struct Cancelled: Error {}

    /// The state that is shared with the threads for hashing and writing.
    private final class Flight: @unchecked Sendable {  // The checksums are their queue's until it has nothing to do.
        let slots = DispatchSemaphore(value: BlockFlow.blocksInFlight)
        private let threads: BlockThreads
        /// The first error, after which nothing is hashed or written.
        private let failure = Lock<(any Error)?>(nil)
        /// Entered for each digest of a block that is not computed yet.
        let hashing = DispatchGroup()
        let md5 = BodyMD5()
        var checksums: BodyChecksums

        init(_ checksums: BodyChecksums, _ threads: BlockThreads) {
            self.checksums = checksums
            self.threads = threads
        }

        var hasFailed: Bool { failure.withLock { $0 != nil } }

        func check() throws {
            if let failure = failure.withLock({ $0 }) { throw failure }
        }

        func fail(_ error: any Error) {
            failure.withLock { $0 = $0 ?? error }
        }

        /// Waits until no block is in flight, except for those that the caller has.
        func wait(exceptFor count: Int) {
            for _ in count..<BlockFlow.blocksInFlight { slots.wait() }
            for _ in count..<BlockFlow.blocksInFlight { slots.signal() }
        }

        func isDone(with block: AlignedBlock) {
            guard block.leave() else { return }
            threads.giveBack(block)
            slots.signal()
        }

        func isHashed(_ block: AlignedBlock) {
            isDone(with: block)
            hashing.leave()
        }
    }

    private let sink: (any BodySink)?
    private let threads: BlockThreads
    /// The queue of the checksums.
    private lazy var checksums = threads.hashingQueue()
    private let writing: DispatchQueue
    private let permit: BodyPipeline.Permit
    private let flight: Flight
    /// The block that is being filled.
    private var block: AlignedBlock?
    private var filled = 0
    /// The full block that is not written yet.
    private var last: AlignedBlock?

    init(
        _ checks: BodyChecks, into sink: (any BodySink)?, _ threads: BlockThreads,
        _ permit: @escaping BodyPipeline.Permit
    ) {
        self.sink = sink
        self.threads = threads
        self.permit = permit
        flight = Flight(BodyChecksums(checks), threads)
        writing = threads.writingQueue()
    }

    func append(_ bytes: UnsafeRawBufferPointer) throws {
        var rest = bytes[...]
        while !rest.isEmpty {
            try flight.check()
            if let full = last.take() { write(full) }
            let block = block ?? threads.takeBlock()
            self.block = block
            let piece = rest.prefix(AlignedBlock.size - filled)
            UnsafeMutableRawBufferPointer(rebasing: block.bytes[filled...]).copyMemory(from: .init(rebasing: piece))
            filled += piece.count
            rest = rest.dropFirst(piece.count)
            if filled == AlignedBlock.size { hash(block) }
        }
    }

    func finish() throws -> BodyDigest.Stored {
        flight.wait(exceptFor: last == nil ? 0 : 1)
        flight.hashing.wait()
        try flight.check()
        var digest = BodyDigest(md5: flight.md5.value, flight.checksums)
        if let block { digest.update(UnsafeRawBufferPointer(rebasing: block.bytes[..<filled])) }
        let stored = try digest.finalize()
        if let last {
            try append(end: UnsafeRawBufferPointer(last.bytes))
        } else if let block {
            try append(end: UnsafeRawBufferPointer(rebasing: block.bytes[..<filled]))
        }
        recycle()
        return stored
    }

    func cancel() {
        flight.fail(Cancelled())
        recycle()
        flight.wait(exceptFor: 0)
    }

    private func append(end: UnsafeRawBufferPointer) throws {
        guard let sink else { return }
        try permit { try sink.append(end) }
    }

    private func hash(_ full: AlignedBlock) {
        flight.slots.wait()
        full.enter(sink == nil ? 2 : 3)
        flight.hashing.enter()
        flight.hashing.enter()
        threads.md5.add(full, to: flight.md5) { [flight] in
            !flight.hasFailed
        } then: { [flight] in
            flight.isHashed(full)
        }
        checksums.async { [flight] in
            if !flight.hasFailed { flight.checksums.update(UnsafeRawBufferPointer(full.bytes)) }
            flight.isHashed(full)
        }
        if sink != nil { last = full }
        block = nil
        filled = 0
    }

    private func write(_ full: AlignedBlock) {
        guard let sink else { return }
        writing.async { [flight, permit] in
            do {
                try flight.check()
                try permit { try sink.append(UnsafeRawBufferPointer(full.bytes)) }
            } catch {
                flight.fail(error)
            }
            flight.isDone(with: full)
        }
    }

    private func recycle() {
        if let last { flight.isDone(with: last) }
        if let block { threads.giveBack(block) }
        (last, block) = (nil, nil)
        filled = 0
    }
}
