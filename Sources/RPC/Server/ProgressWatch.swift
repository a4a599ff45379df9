import Basics

/// Decides whether something has made no progress for so long that a server that stops does not wait for it.
struct ProgressWatch {
    /// The interval of checks, in nanoseconds.
    static let interval: UInt64 = 250_000_000
    /// The time without progress, in nanoseconds: less than two seconds pass until the end is noticed.
    static let limit: UInt64 = 1_250_000_000

    private var since: UInt64
    private var mark: Int?

    init(at now: UInt64) {
        since = now
    }

    /// - Parameter mark: a number that changes with each progress.
    mutating func isIdle(_ mark: Int, at now: UInt64) -> Bool {
        guard mark == self.mark else {
            (self.mark, since) = (mark, now)
            return false
        }
        return now &- since >= Self.limit
    }
}
