import Basics
import Dispatch
import FoundationEssentials
import Synchronization

/// The threads that hash and write blocks, and the memory for blocks; shared by all requests.
package final class BlockThreads: Sendable {
    /// The right of one request to a number of blocks; it ends with this object.
    package final class Share: Sendable {
        private let threads: BlockThreads
        private let blocks: Int
        private let owner: WorkOwner

        fileprivate init(_ threads: BlockThreads, blocks: Int, of owner: WorkOwner) {
            self.threads = threads
            self.blocks = blocks
            self.owner = owner
        }

        deinit {
            threads.held.withLock { $0.give(blocks, back: owner) }
        }
    }

    private static let writingThreads = 4
    private static let maximumSpares = 16

    private let queues = (0..<writingThreads).map { DispatchQueue(label: "store.writing.\($0)") }
    /// Runs on as many threads as there are cores.
    private let hashing: DispatchQueue
    /// Uses at most half of the cores, since the others have to receive and write as much: more threads would only make its groups
    /// smaller.
    let md5: MD5Stage
    private let turn = Atomic(0)
    private let spares = Lock<[AlignedBlock]>([])
    private let held: Lock<HeldBlocks>
    /// The most blocks of one document.
    private let documentLimit: Int

    /// - Parameter memory: the memory for all blocks together, in bytes.
    init(memory: Int64 = .max) {
        let blocks = Int(max(memory / Int64(AlignedBlock.size), 1))
        held = Lock(HeldBlocks(limit: blocks))
        documentLimit = max(1, blocks / 2)
        hashing = DispatchQueue(label: "store.hashing", attributes: .concurrent)
        md5 = MD5Stage(on: hashing, threads: max(1, ProcessInfo.processInfo.activeProcessorCount / 2))
    }

    /// Reserves blocks for a body, as many as it can use at the same time. There is no waiting for them, since their holders may be
    /// waiting for slow clients.
    ///
    /// - Parameters:
    ///   - length: `nil` = unknown.
    ///   - owner: the party that sends the body.
    /// - Returns: `nil` if there are not enough left for the party, see ``HeldBlocks``.
    func share(length: Int64?, for owner: WorkOwner) -> Share? {
        share(Int(min(Self.blocks(length ?? .max), Int64(BodyPipeline.blocks))), for: owner)
    }

    /// Reserves memory for a document that is kept as a whole, and the same amount for its parsed form: half of everything at most,
    /// so that one document always has space if there is nothing else.
    func documentShare(length: Int64, for owner: WorkOwner) -> Share? {
        share(min(Int(Self.blocks(2 * length)), documentLimit), for: owner)
    }

    private static func blocks(_ length: Int64) -> Int64 {
        let size = Int64(AlignedBlock.size)
        return max(1, length / size + (length.isMultiple(of: size) ? 0 : 1))
    }

    private func share(_ blocks: Int, for owner: WorkOwner) -> Share? {
        guard held.withLock({ $0.take(blocks, for: owner) }) else { return nil }
        return Share(self, blocks: blocks, of: owner)
    }

    /// Returns a serial queue for checksums; each request has its own.
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

/// The blocks that are reserved for bodies, by the parties that send them: nobody's slow bodies leave others without memory.
///
/// An owner has at most half of the blocks, and the last quarter is for organizations that have less than an eighth. Each of the two
/// shares is at least what one long body and a short one need.
struct HeldBlocks {
    private static let leastShare = BodyPipeline.blocks + 1

    /// The number of blocks of all parties together.
    private let limit: Int
    private(set) var all = 0
    private var owners: [WorkOwner: Int] = [:]
    private var groups: [WorkOwner.Group: Int] = [:]

    init(limit: Int) {
        self.limit = limit
    }

    /// - Returns: whether the blocks were taken.
    mutating func take(_ blocks: Int, for owner: WorkOwner) -> Bool {
        let own = owners[owner, default: 0] + blocks
        let ofGroup = groups[owner.group, default: 0] + blocks
        guard all + blocks <= limit,
            own == blocks || own <= max(limit / 2, Self.leastShare),
            ofGroup == blocks || ofGroup <= max(limit / 8, Self.leastShare) || all + blocks <= limit - limit / 4
        else { return false }
        all += blocks
        owners[owner] = own
        groups[owner.group] = ofGroup
        return true
    }

    mutating func give(_ blocks: Int, back owner: WorkOwner) {
        all -= blocks
        Self.subtract(blocks, from: &owners[owner])
        Self.subtract(blocks, from: &groups[owner.group])
    }

    /// Subtracts from a count; one of 0 is removed.
    private static func subtract(_ blocks: Int, from count: inout Int?) {
        guard let before = count else { return }
        count = before > blocks ? before - blocks : nil
    }
}
