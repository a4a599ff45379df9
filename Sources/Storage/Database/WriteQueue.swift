import Basics
import Dispatch
import Synchronization

/// The writes that wait for the writer's thread, and requested copies. Bounded; any thread may add.
///
/// Groups of owners share the writer: a turn takes as many writes of each group of owners (an organization, the gateway
/// itself) as of any other before it takes more of one, and within a group as many of each owner. An organization may have a quarter of
/// the places, and an owner half of that.
final class WriteQueue: Sendable {
    /// The next work of the writer's thread.
    struct Turn {
        var writes: [any PendingWrite] = []
        /// The copies to begin.
        var copies: [DatabaseCopy] = []
    }

    /// The wait of the thread if there is no work.
    enum WaitLimit: Equatable {
        case untilWork
        /// A limited wait, because other work is blocked and has to be repeated then.
        case atMost(Duration)
        /// No wait, because there is other work.
        case none
    }

    fileprivate struct State {
        /// The waiting writes in the order of their arrival.
        var waiting: [(write: any PendingWrite, owner: WorkOwner?)] = []
        /// The number of waiting writes of each owner.
        var counts: [WorkOwner: Int] = [:]
        /// The number of waiting writes of each group.
        var groupCounts: [WorkOwner.Group: Int] = [:]
        var copies: [DatabaseCopy] = []
        var refusal: DatabaseError?
    }

    private let state = Lock(State())
    /// Signaled when the first write arrives, and at the end.
    private let wake = DispatchSemaphore(value: 0)
    private let capacity: Int
    private let batch: Int

    /// - Parameters:
    ///   - capacity: the number of writes that may wait.
    ///   - batch: the largest number of writes in one turn.
    init(capacity: Int, batch: Int) {
        self.capacity = capacity
        self.batch = batch
    }

    /// The number of waiting writes.
    var count: Int {
        state.withLock { $0.waiting.count }
    }

    /// The reason why no writes are accepted any more; `nil` while they are.
    var refusal: DatabaseError? {
        state.withLock { $0.refusal }
    }

    /// - Parameter owner: `nil` = the gateway itself, which has no share of its own.
    /// - Throws: ``DatabaseError/overloaded`` if too many writes wait, or too many of this owner or organization.
    func add(_ write: some PendingWrite, for owner: WorkOwner?) throws(DatabaseError) {
        let isFirst = try state.withLock { state throws(DatabaseError) in
            if let refusal = state.refusal { throw refusal }
            guard state.waiting.count < capacity else { throw .overloaded }
            if let owner {
                let count = state.counts[owner, default: 0]
                let groupCount = state.groupCounts[owner.group, default: 0]
                guard count < max(1, capacity / 8), groupCount < max(1, capacity / 4) else { throw .overloaded }
                state.counts[owner] = count + 1
                state.groupCounts[owner.group] = groupCount + 1
            }
            state.waiting.append((write, owner))
            return state.waiting.count == 1
        }
        if isFirst { wake.signal() }
    }

    func add(_ copy: DatabaseCopy) throws(DatabaseError) {
        try state.withLock { state throws(DatabaseError) in
            if let refusal = state.refusal { throw refusal }
            state.copies.append(copy)
        }
        wake.signal()
    }

    /// Waits for work and takes it in the order of arrival; if there is more than a batch, groups take turns, and within each its
    /// owners.
    ///
    /// - Parameter waitLimit: the wait; unless it is ``WaitLimit/untilWork``, the result may be empty.
    /// - Returns: `nil` after ``close(refusing:)``, once nothing is left.
    func take(_ waitLimit: WaitLimit = .untilWork) -> Turn? {
        var waitLimit = waitLimit
        while true {
            let (turn, isClosed) = state.withLock { state in
                let turn = Turn(writes: state.takeBatch(batch), copies: state.copies)
                state.copies.removeAll()
                return (turn, state.refusal != nil)
            }
            if !turn.writes.isEmpty || !turn.copies.isEmpty { return turn }
            if isClosed { return nil }
            switch waitLimit {
            case .none: return turn
            case .atMost(let wait):
                _ = wake.wait(timeout: .now() + .nanoseconds(Int(wait.nanoseconds)))
                waitLimit = .none
            case .untilWork: wake.wait()
            }
        }
    }

    /// Refuses every write from now on. The first reason stays.
    func close(refusing reason: DatabaseError) {
        state.withLock { $0.refusal = $0.refusal ?? reason }
        wake.signal()
    }
}

extension WriteQueue.State {
    fileprivate mutating func takeBatch(_ limit: Int) -> [any PendingWrite] {
        guard waiting.count > limit else {
            defer {
                waiting.removeAll(keepingCapacity: true)
                counts.removeAll(keepingCapacity: true)
                groupCounts.removeAll(keepingCapacity: true)
            }
            return waiting.map(\.write)
        }
        let ranks = ranks
        var sizes = [Int](repeating: 0, count: (ranks.max() ?? 0) + 1)
        for rank in ranks { sizes[rank] += 1 }
        // All writes with ranks below `last` are taken, and the earliest with that rank.
        var (last, left) = (0, limit)
        while sizes[last] <= left {
            left -= sizes[last]
            last += 1
        }
        var taken: [any PendingWrite] = []
        var kept: [(write: any PendingWrite, owner: WorkOwner?)] = []
        for (entry, rank) in zip(waiting, ranks) {
            let isTaken = rank < last || (rank == last && left > 0)
            guard isTaken else {
                kept.append(entry)
                continue
            }
            if rank == last { left -= 1 }
            taken.append(entry.write)
            if let owner = entry.owner { remove(owner) }
        }
        waiting = kept
        return taken
    }

    /// The rank of each waiting write among those of its group, in which owners take turns. The gateway itself is a group with one
    /// owner.
    private var ranks: [Int] {
        var seen: [WorkOwner?: Int] = [:]
        let ownerRanks = waiting.map { entry in
            let rank = seen[entry.owner, default: 0]
            seen[entry.owner] = rank + 1
            return rank
        }
        let groups = Dictionary(grouping: waiting.indices) { waiting[$0].owner?.group }
        var ranks = [Int](repeating: 0, count: waiting.count)
        for members in groups.values {
            let inTurn = members.sorted { (ownerRanks[$0], $0) < (ownerRanks[$1], $1) }
            for (rank, index) in inTurn.enumerated() { ranks[index] = rank }
        }
        return ranks
    }

    private mutating func remove(_ owner: WorkOwner) {
        if let count = counts[owner] { counts[owner] = count > 1 ? count - 1 : nil }
        if let count = groupCounts[owner.group] { groupCounts[owner.group] = count > 1 ? count - 1 : nil }
    }
}
