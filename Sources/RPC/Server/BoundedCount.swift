import Synchronization

/// A count that several threads increase up to a limit.
struct BoundedCount: ~Copyable, Sendable {
    private let count = Atomic<Int>(0)

    var value: Int { count.load(ordering: .relaxed) }

    /// Adds one if the count then is within `limit`.
    ///
    /// - Returns: whether it was added; if so, `giveBack` must follow.
    func take(limit: Int) -> Bool {
        if count.add(1, ordering: .relaxed).newValue <= limit { return true }
        giveBack()
        return false
    }

    func giveBack() { count.subtract(1, ordering: .relaxed) }

    /// Adds `change`, even above `limit`.
    ///
    /// - Returns: whether the count is now within `limit`.
    func add(_ change: Int, limit: Int = .max) -> Bool {
        count.add(change, ordering: .relaxed).newValue <= limit
    }
}
