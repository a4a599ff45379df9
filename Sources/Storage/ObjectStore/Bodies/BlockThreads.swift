import Basics
import Dispatch
import Synchronization

/// The threads that hash and write blocks, and the memory for blocks; shared by all requests.
package final class BlockThreads: Sendable {
    /// The right of one request to a number of blocks; it ends with this object.
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
    /// The number of blocks that requests currently share.
    private let shared = Atomic(0)
    private let maximumShared: Int

    /// - Parameter memory: the memory for all blocks together, in bytes.
    init(memory: Int64 = .max) {
        maximumShared = Int(max(memory / Int64(AlignedBlock.size), 1))
    }

    /// Reserves blocks for a body, as many as it can use at the same time. There is no waiting for them, since their holders may be
    /// waiting for slow clients.
    ///
    /// - Parameter length: `nil` = unknown.
    /// - Returns: `nil` if there are not enough left.
    func share(length: Int64?) -> Share? {
        share(Int(min(Self.blocks(length ?? .max), Int64(BodyPipeline.blocks))))
    }

    /// Reserves memory for a document that is kept as a whole, and the same amount for its parsed form: half of everything at most,
    /// so that one document always has space if there is nothing else.
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

    /// Returns a serial queue for hashing; each request has its own.
    func hashingQueue() -> DispatchQueue {
        DispatchQueue(label: "store.hashing.body", target: hashing)
    }

    /// Returns a serial queue for writing, on one thread; requests are distributed over the threads.
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
