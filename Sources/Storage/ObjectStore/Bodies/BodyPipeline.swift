import Basics
import Dispatch
import StoreProtocol

/// Takes one body in: gathers it into aligned blocks, each of which one thread hashes and another hands to a sink,
/// while the next is received.
///
/// Memory does not depend on the body's size: a block that fills, and two under way. Blocks go past the page cache where
/// the file lets them. The short end that fills no block is hashed and written by the caller, through the page cache, when
/// all blocks are done: no direct write is in flight then, and the end begins with a page, so the two never meet in one. A body that is smaller than a block costs no other thread a turn.
///
/// Used by one thread at a time.
final class BodyPipeline {
    /// Runs a write, or throws where the right to write is gone.
    typealias Permit = @Sendable (() throws -> Void) throws -> Void

    private static let blocksInFlight = 2
    /// The most blocks that a body has in use at a time: one that fills, and those under way.
    static let blocks = blocksInFlight + 1

    private struct Cancelled: Error {}

    /// What is shared with the threads that hash and write.
    private final class Flight: @unchecked Sendable {  // The digest is the hashing queue's until `wait` has returned.
        let slots = DispatchSemaphore(value: BodyPipeline.blocksInFlight)
        /// What went wrong first; nothing is hashed or written from then on.
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

    /// Nil: the body is hashed, and stored nowhere.
    private let sink: (any BodySink)?
    private let threads: BlockThreads
    private let hashing: DispatchQueue
    private let writing: DispatchQueue
    private let permit: Permit
    private let share: BlockThreads.Share?
    private let flight: Flight
    private var block: AlignedBlock?
    private var filled = 0
    /// Bytes that were appended.
    private(set) var count: Int64 = 0

    /// - Parameters:
    ///   - share: of the memory for blocks; kept as long as this pipeline.
    ///   - permit: asked for each write.
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

    /// Whether the blocks of a body that begins at `position` may go past the page cache.
    static func canWriteDirectly(at position: Int64, alignment: Int = AlignedBlock.alignment) -> Bool {
        position.isMultiple(of: Int64(alignment))
    }

    /// - Throws: also what an earlier piece failed at.
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

    /// Returns when all that was appended has been hashed and written. To be called once.
    ///
    /// - Throws: also where the digests are not those that the request named.
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

    /// Makes what was written durable and closes the file.
    func synchronizeAndClose() throws {
        try sink?.finish()
    }

    /// Leaves what is not done yet; returns when no other thread works on this body any more.
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
