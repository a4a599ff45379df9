import Synchronization

/// A count that several threads raise, each up to a limit.
struct BoundedCount: ~Copyable, Sendable {
    private let count = Atomic<Int>(0)

    var value: Int { count.load(ordering: .relaxed) }

    /// Adds one, where that stays within `limit`.
    ///
    /// - Returns: whether it was added; where it was, `giveBack` is to follow.
    func take(limit: Int) -> Bool {
        if count.add(1, ordering: .relaxed).newValue <= limit { return true }
        giveBack()
        return false
    }

    func giveBack() { count.subtract(1, ordering: .relaxed) }

    /// Adds `change`, also beyond `limit`.
    ///
    /// - Returns: whether the count is within `limit` now.
    func add(_ change: Int, limit: Int = .max) -> Bool {
        count.add(change, ordering: .relaxed).newValue <= limit
    }
}
