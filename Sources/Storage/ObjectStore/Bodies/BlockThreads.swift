import Basics
import Dispatch
import Synchronization

/// The few threads that hash and write blocks, and the memory for these; all requests share them.
package final class BlockThreads: Sendable {
    /// The right of one request to so many blocks; ends with this object.
    package final class Share: Sendable {
        private let threads: BlockThreads
        private let blocks: Int

        fileprivate init(_ threads: BlockThreads, blocks: Int) {
            self.threads = threads
            self.blocks = blocks
        }

        deinit {
            threads.shared.subtract(blocks, ordering: .relaxed)
        }
    }

    private static let writingThreads = 4
    private static let maximumSpares = 16

    private let queues = (0..<writingThreads).map { DispatchQueue(label: "store.writing.\($0)") }
    /// Runs on as many threads as there are cores.
    private let hashing = DispatchQueue(label: "store.hashing", attributes: .concurrent)
    private let turn = Atomic(0)
    private let spares = Lock<[AlignedBlock]>([])
    /// Blocks that requests may have now.
    private let shared = Atomic(0)
    private let maximumShared: Int

    /// - Parameter memory: of all blocks together; bytes.
    init(memory: Int64 = .max) {
        maximumShared = Int(max(memory / Int64(AlignedBlock.size), 1))
    }

    /// Blocks for a body, as many as it can have in use at a time. Nobody waits for them: who has them may be waiting for a
    /// slow client.
    ///
    /// - Parameter length: nil = not known.
    /// - Returns: nil where there are not so many left.
    func share(length: Int64?) -> Share? {
        share(Int(min(Self.blocks(length ?? .max), Int64(BodyPipeline.blocks))))
    }

    /// Memory for a document that is kept whole, and as much for what is read of it: half of all at most, so that one
    /// document always has room where there is nothing else.
    func documentShare(length: Int64) -> Share? {
        share(min(Int(Self.blocks(2 * length)), max(1, maximumShared / 2)))
    }

    private static func blocks(_ length: Int64) -> Int64 {
        let size = Int64(AlignedBlock.size)
        return max(1, length / size + (length.isMultiple(of: size) ? 0 : 1))
    }

    private func share(_ blocks: Int) -> Share? {
        let isLeft = shared.add(blocks, ordering: .relaxed).newValue <= maximumShared
        let share = Share(self, blocks: blocks)
        return isLeft ? share : nil
    }

    /// Runs what it is given in order; each request has its own.
    func hashingQueue() -> DispatchQueue {
        DispatchQueue(label: "store.hashing.body", target: hashing)
    }

    /// Runs what it is given in order, on one thread; requests take turns at the threads.
    func writingQueue() -> DispatchQueue {
        let turn = turn.wrappingAdd(1, ordering: .relaxed).oldValue
        return queues[Int(UInt(bitPattern: turn) % UInt(queues.count))]
    }

    func takeBlock() -> AlignedBlock {
        spares.withLock { $0.popLast() } ?? AlignedBlock()
    }

    func giveBack(_ block: AlignedBlock) {
        spares.withLock {
            if $0.count < Self.maximumSpares { $0.append(block) }
        }
    }
}
