import RPC

/// Timers in a binary heap, the earliest first.
///
/// A cancelled timer stays until its time comes or until cancelled timers may be half of all: most deadlines are cancelled long
/// before their time, and must not accumulate.
struct TimerHeap {
    private var entries: [LoopTimer] = []
    private var countAfterPurge = 32

    var earliest: LoopTimer? { entries.first }

    /// - Returns: whether the new timer is now the earliest.
    mutating func insert(_ timer: LoopTimer) -> Bool {
        if entries.count >= 2 * countAfterPurge { purge() }
        entries.append(timer)
        siftUp(entries.count - 1)
        return entries[0] === timer
    }

    /// Removes the earliest timer whose time has come; skips cancelled ones.
    mutating func removeDue(_ now: UInt64) -> LoopTimer? {
        while let first = entries.first, first.isCancelled || first.time <= now {
            entries.swapAt(0, entries.count - 1)
            entries.removeLast()
            siftDown(0)
            if !first.isCancelled { return first }
        }
        return nil
    }

    private mutating func purge() {
        entries.removeAll(where: \.isCancelled)
        // A sorted array is a heap.
        entries.sort { $0.time < $1.time }
        countAfterPurge = max(32, entries.count)
    }

    private mutating func siftUp(_ start: Int) {
        var child = start
        while child > 0 {
            let parent = (child - 1) / 2
            guard entries[child].time < entries[parent].time else { return }
            entries.swapAt(child, parent)
            child = parent
        }
    }

    private mutating func siftDown(_ start: Int) {
        var parent = start
        while true {
            var least = parent
            for child in [2 * parent + 1, 2 * parent + 2]
            where child < entries.count && entries[child].time < entries[least].time {
                least = child
            }
            guard least != parent else { return }
            entries.swapAt(parent, least)
            parent = least
        }
    }
}
