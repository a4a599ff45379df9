import Basics
import Crypto
import Dispatch

/// The MD5 of one body, and its blocks that wait for ``MD5Stage``.
final class BodyMD5: @unchecked Sendable {  // See the comments of its properties.
    fileprivate struct Wait {
        let block: AlignedBlock
        let isNeeded: @Sendable () -> Bool
        let isDone: @Sendable () -> Void
    }

    /// The MD5 of all blocks that are done. It is the stage's while a block waits, and the body's otherwise.
    fileprivate(set) var value = RunningMD5()
    // Under the stage's lock.
    fileprivate var waiting: [Wait] = []
    /// Whether the body is among those that are ready, or one of its blocks is being hashed.
    fileprivate var isScheduled = false
}

/// Computes the MD5 of the blocks of all bodies. Those of different bodies that wait at the same time are hashed together, in the
/// lanes of the CPU's vectors, which takes little longer than one of them.
///
/// A block never waits for others to join it: it is hashed at once if a thread is free, and otherwise with all that wait when a
/// thread has finished its group. The blocks of a body are hashed in order, one in a group. Bodies take turns: one whose block was
/// hashed comes after those that wait, and no group has more blocks than the CPU hashes at the same time.
final class MD5Stage: Sendable {
    private typealias Group = [(body: BodyMD5, wait: BodyMD5.Wait)]

    private struct State {
        /// The bodies with blocks that wait, of which none is being hashed.
        var ready: [BodyMD5] = []
        /// The number of threads that hash, or are about to.
        var threads = 0

        mutating func takeGroup(of size: Int) -> Group {
            defer { ready.removeFirst(min(size, ready.count)) }
            return ready.prefix(size).map { ($0, $0.waiting.removeFirst()) }
        }

        /// - Returns: whether to start a thread, which is counted.
        mutating func startsThread(ofAtMost maximum: Int) -> Bool {
            guard !ready.isEmpty, threads < maximum else { return false }
            threads += 1
            return true
        }

        /// - Returns: whether the thread that hashed the group continues.
        mutating func finish(_ group: Group) -> Bool {
            for (body, _) in group {
                body.isScheduled = !body.waiting.isEmpty
                if body.isScheduled { ready.append(body) }
            }
            if ready.isEmpty { threads -= 1 }
            return !ready.isEmpty
        }
    }

    private let queue: DispatchQueue
    private let maximumThreads: Int
    private let groupSize: Int
    private let state = Lock(State())

    /// - Parameters:
    ///   - queue: a concurrent one.
    ///   - threads: the most threads at the same time.
    ///   - groupSize: the most blocks that are hashed together.
    init(on queue: DispatchQueue, threads: Int, groupSize: Int = RunningMD5.messagesAtOnce) {
        self.queue = queue
        maximumThreads = threads
        self.groupSize = groupSize
    }

    /// The number of threads that hash, or are about to.
    var threads: Int { state.withLock { $0.threads } }

    /// Adds a block to the MD5 of a body, after the body's earlier ones.
    ///
    /// - Parameters:
    ///   - block: a full one, unchanged until `isDone` is called.
    ///   - isNeeded: asked before the block is hashed; if not, it is left out.
    ///   - isDone: called afterwards, in each case.
    func add(
        _ block: AlignedBlock, to body: BodyMD5, if isNeeded: @escaping @Sendable () -> Bool,
        then isDone: @escaping @Sendable () -> Void
    ) {
        let isStarted = state.withLock { state in
            body.waiting.append(.init(block: block, isNeeded: isNeeded, isDone: isDone))
            guard !body.isScheduled else { return false }
            body.isScheduled = true
            state.ready.append(body)
            return state.startsThread(ofAtMost: maximumThreads)
        }
        if isStarted { hashNext() }
    }

    /// Each group is a piece of work of its own, so that other work of the queue has its turn between them.
    private func hashNext() {
        queue.async { self.hashGroup() }
    }

    private func hashGroup() {
        let (group, isStarted) = state.withLock { state in
            let group = state.takeGroup(of: groupSize)
            return (group, state.startsThread(ofAtMost: maximumThreads))
        }
        // There may be more bodies than fit into a group.
        if isStarted { hashNext() }
        hash(group.filter { $0.wait.isNeeded() })
        for (_, wait) in group { wait.isDone() }
        if state.withLock({ $0.finish(group) }) { hashNext() }
    }

    private func hash(_ group: Group) {
        var values = group.map(\.body.value)
        RunningMD5.update(&values, group.map { UnsafeRawBufferPointer($0.wait.block.bytes) })
        for (index, value) in values.enumerated() { group[index].body.value = value }
    }
}
