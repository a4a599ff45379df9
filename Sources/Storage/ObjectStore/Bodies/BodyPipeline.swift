import Basics
import Dispatch
import Glibc
import StoreProtocol
import Synchronization

/// Receives one body: collects it into aligned blocks, each of which is hashed on one thread and passed to a sink on another, while
/// the next one is received.
///
/// The memory does not depend on the body's size: one block that is being filled, and two in flight. Blocks are written directly if
/// the file permits it. The short end that fills no block is hashed and written by the caller, through the page cache, after all
/// blocks are done: no direct write is in flight then, and the end begins at a page boundary, so the two never share a page. A body
/// smaller than a block uses no other thread.
///
/// Used by one thread at a time.
final class BodyPipeline {
    /// Runs a write, or throws if the right to write was revoked.
    typealias Permit = @Sendable (() throws -> Void) throws -> Void

    private static let blocksInFlight = 2
    /// The number of blocks that a body can use at the same time: one that is being filled, and those in flight.
    static let blocks = blocksInFlight + 1

    private struct Cancelled: Error {}

    /// The state that is shared with the threads for hashing and writing.
    private final class Flight: @unchecked Sendable {  // The digest is the hashing queue's until `wait` has returned.
        let slots = DispatchSemaphore(value: BodyPipeline.blocksInFlight)
        /// The first error, after which nothing is hashed or written.
        private let failure = Lock<(any Error)?>(nil)
        var digest: BodyDigest

        init(_ digest: BodyDigest) {
            self.digest = digest
        }

        func check() throws {
            if let failure = failure.withLock({ $0 }) { throw failure }
        }

        func fail(_ error: any Error) {
            failure.withLock { $0 = $0 ?? error }
        }

        func wait() {
            for _ in 0..<BodyPipeline.blocksInFlight { slots.wait() }
            for _ in 0..<BodyPipeline.blocksInFlight { slots.signal() }
        }
    }

    /// The sink; `nil` = the body is hashed, but not stored.
    private let sink: (any BodySink)?
    private let threads: BlockThreads
    private let hashing: DispatchQueue
    private let writing: DispatchQueue
    private let permit: Permit
    private let share: BlockThreads.Share?
    private let flight: Flight
    private var block: AlignedBlock?
    private var filled = 0
    /// The number of appended bytes.
    private(set) var count: Int64 = 0

    /// - Parameters:
    ///   - share: the share of the memory for blocks; kept as long as this pipeline.
    ///   - permit: wraps each write.
    init(
        _ checks: BodyChecks, into sink: (any BodySink)?, threads: BlockThreads,
        share: BlockThreads.Share? = nil, permit: @escaping Permit = { try $0() }
    ) {
        flight = Flight(BodyDigest(checks))
        self.sink = sink
        self.threads = threads
        self.permit = permit
        self.share = share
        hashing = threads.hashingQueue()
        writing = threads.writingQueue()
    }

    /// Whether the blocks of a body that begins at `position` may be written directly.
    static func canWriteDirectly(at position: Int64, alignment: Int = AlignedBlock.alignment) -> Bool {
        position.isMultiple(of: Int64(alignment))
    }

    /// - Throws: also the error of an earlier piece.
    func append(_ bytes: UnsafeRawBufferPointer) throws {
        count += Int64(bytes.count)
        var rest = bytes[...]
        while !rest.isEmpty {
            try flight.check()
            let block = block ?? threads.takeBlock()
            self.block = block
            let piece = rest.prefix(AlignedBlock.size - filled)
            UnsafeMutableRawBufferPointer(rebasing: block.bytes[filled...]).copyMemory(from: .init(rebasing: piece))
            filled += piece.count
            rest = rest.dropFirst(piece.count)
            if filled == AlignedBlock.size { send(block) }
        }
    }

    /// Waits until all bytes are hashed and written. May be called once.
    ///
    /// - Throws: also if the digests differ from those in the request.
    func finish() throws -> BodyDigest.Stored {
        flight.wait()
        try flight.check()
        if let block {
            let rest = UnsafeRawBufferPointer(rebasing: block.bytes[..<filled])
            flight.digest.update(rest)
            if let sink { try permit { try sink.append(end: rest) } }
            recycle()
        }
        return try flight.digest.finalize()
    }

    /// Makes the bytes durable and closes the file.
    func synchronizeAndClose() throws {
        try sink?.finish()
    }

    /// Abandons the rest; returns when no other thread works on this body any more.
    func cancel() {
        flight.fail(Cancelled())
        flight.wait()
        recycle()
    }

    private func send(_ block: AlignedBlock) {
        flight.slots.wait()
        let done = { @Sendable [flight, threads] in
            guard block.leave() else { return }
            threads.giveBack(block)
            flight.slots.signal()
        }
        block.enter(sink == nil ? 1 : 2)
        hashing.async { [flight] in
            if (try? flight.check()) != nil { flight.digest.update(UnsafeRawBufferPointer(block.bytes)) }
            done()
        }
        if let sink {
            writing.async { [flight, permit] in
                do {
                    try flight.check()
                    try permit { try sink.append(block: UnsafeRawBufferPointer(block.bytes)) }
                } catch {
                    flight.fail(error)
                }
                done()
            }
        }
        self.block = nil
        filled = 0
    }

    private func recycle() {
        if let block { threads.giveBack(block) }
        block = nil
        filled = 0
    }
}

/// Memory for one block of a body, aligned for direct writes.
///
/// Only its holder changes the block; those to whom it is passed only read it, until all have finished.
final class AlignedBlock: @unchecked Sendable {  // Written by its holder alone; see above.
    /// The size in bytes. Disks write blocks of this size at full speed, and a few of them for each request take little memory.
    static let size = 1 << 20
    /// The alignment of addresses, offsets and lengths for direct writes.
    static let alignment: Int = requiredAlignment(pageSize: sysconf(Int32(_SC_PAGESIZE)))

    let bytes = UnsafeMutableRawBufferPointer.allocate(byteCount: size, alignment: alignment)
    private let readers = Atomic(0)

    /// Returns the required alignment. No disk has sectors above 4096 bytes. If pages are larger, such as the 64 KiB of some arm64
    /// kernels, a body that begins within a page must not be written directly: the end of the previous part is written through the
    /// page cache, and the write-back of the shared page would restore the data from before the direct write.
    static func requiredAlignment(pageSize: Int) -> Int { max(4096, pageSize) }

    /// Sets the number of readers.
    func enter(_ count: Int) {
        readers.store(count, ordering: .relaxed)
    }

    /// - Returns: whether this was the last reader.
    func leave() -> Bool {
        readers.subtract(1, ordering: .acquiringAndReleasing).newValue == 0
    }

    deinit {
        bytes.deallocate()
    }
}
