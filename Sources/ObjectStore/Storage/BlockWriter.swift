import Dispatch
import Synchronization

/// Writes one body at its place in a file: gathers it into aligned blocks, each of which another thread writes while the
/// next is received and hashed.
///
/// Memory does not depend on the body's size: a block that fills, and two under way. Blocks go past the page cache where
/// the file lets them. The short end that fills no block goes through it, when all blocks are written: no direct write
/// is in flight then, and the end begins at a multiple of 4096, so the two never meet in a page.
///
/// Used by one thread at a time.
final class BlockWriter {
    /// Runs a write, or throws where the right to write is gone.
    typealias Permit = @Sendable (() throws -> Void) throws -> Void

    private static let blocksInFlight = 2
    /// That a body can have in use at a time: one that fills, and those that are written.
    static let blocks = blocksInFlight + 1

    private struct Cancelled: Error {}

    /// What is shared with the thread that writes.
    private final class Flight: Sendable {
        let slots = DispatchSemaphore(value: BlockWriter.blocksInFlight)
        /// What went wrong first; nothing is written from then on.
        private let failure = Mutex<(any Error)?>(nil)

        func check() throws {
            if let failure = failure.withLock({ $0 }) { throw failure }
        }

        func fail(_ error: any Error) {
            failure.withLock { $0 = $0 ?? error }
        }

        func wait() {
            for _ in 0..<BlockWriter.blocksInFlight { slots.wait() }
            for _ in 0..<BlockWriter.blocksInFlight { slots.signal() }
        }
    }

    private let file: DataFile
    private let writers: BlockWriters
    private let queue: DispatchQueue
    private let permit: Permit
    private let share: BlockWriters.Share?
    private let flight = Flight()
    /// Where in the file the next block goes.
    private var position: Int64
    private var block: AlignedBlock?
    private var filled = 0

    /// - Parameters:
    ///   - position: where in `file` the body begins; a multiple of 4096 where `file` is written directly.
    ///   - share: of the memory for blocks; kept as long as this writer.
    ///   - permit: asked for each write.
    init(
        _ file: DataFile, at position: Int64, writers: BlockWriters, share: BlockWriters.Share? = nil,
        permit: @escaping Permit = { try $0() }
    ) {
        self.file = file
        self.position = position
        self.writers = writers
        self.permit = permit
        self.share = share
        queue = writers.queue()
    }

    /// - Throws: also what an earlier piece failed at.
    func append(_ bytes: UnsafeRawBufferPointer) throws {
        var rest = bytes[...]
        while !rest.isEmpty {
            try flight.check()
            let block = block ?? writers.takeBlock()
            self.block = block
            let piece = rest.prefix(AlignedBlock.size - filled)
            UnsafeMutableRawBufferPointer(rebasing: block.bytes[filled...]).copyMemory(from: .init(rebasing: piece))
            filled += piece.count
            rest = rest.dropFirst(piece.count)
            if filled == AlignedBlock.size { send(block) }
        }
    }

    /// Returns when all that was appended has been written.
    func finish() throws {
        flight.wait()
        try flight.check()
        guard let block else { return }
        file.setDirect(false)
        try permit { try file.write(UnsafeRawBufferPointer(rebasing: block.bytes[..<filled]), at: position) }
        recycle()
    }

    /// Makes what was written durable and closes the file.
    func synchronizeAndClose() throws(StorageFailure) {
        try file.synchronizeAndClose()
    }

    /// Leaves what is not written yet; returns when no write is in flight any more.
    func cancel() {
        flight.fail(Cancelled())
        flight.wait()
        recycle()
    }

    private func send(_ block: AlignedBlock) {
        flight.slots.wait()
        queue.async { [file, writers, permit, flight, position] in
            do {
                try flight.check()
                try permit { try file.writeBlock(UnsafeRawBufferPointer(block.bytes), at: position) }
            } catch {
                flight.fail(error)
            }
            writers.giveBack(block)
            flight.slots.signal()
        }
        position += Int64(AlignedBlock.size)
        self.block = nil
        filled = 0
    }

    private func recycle() {
        if let block { writers.giveBack(block) }
        block = nil
        filled = 0
    }
}
