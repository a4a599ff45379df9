package import Basics

extension Database {
    /// The longest wait for work that another process may have committed.
    private static let longestWait = Duration.seconds(1)

    /// Waits for a signal that is notified after commits, or until it is time to look again: at most a second if other processes write
    /// to the database.
    ///
    /// - Parameters:
    ///   - count: the signal's count, read before the caller looked for work.
    ///   - limit: the longest wait; `nil` = no limit.
    package func wait(for signal: Signal, after count: Int, atMost limit: Duration? = nil) async {
        await signal.wait(after: count, atMost: isShared ? min(limit ?? Self.longestWait, Self.longestWait) : limit)
    }
}
