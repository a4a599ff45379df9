import Dispatch
import Synchronization

/// The few threads that write blocks, and the blocks that wait for their next use; all requests share them.
final class BlockWriters: Sendable {
    private static let threads = 4
    private static let maximumSpares = 16

    private let queues = (0..<threads).map { DispatchQueue(label: "store.writer.\($0)") }
    private let turn = Atomic(0)
    private let spares = Mutex<[AlignedBlock]>([])

    /// Runs what it is given in order, on one thread; requests take turns at the threads.
    func queue() -> DispatchQueue {
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
