import Basics

/// The scrubber's counters; any thread may read them at any time.
package final class ScrubMetrics: Sendable {
    package struct Counts: Sendable, Hashable {
        package var bytes = 0
        package var objects = 0
        /// The number of completed passes.
        package var passes = 0
        package var failures = 0
        /// The number of corrupted objects; `nil` until it was read from the database.
        package var bad: Int?
    }

    private let counts = Lock(Counts())

    package var snapshot: Counts { counts.withLock { $0 } }

    func update(_ change: (inout Counts) -> Void) {
        counts.withLock { change(&$0) }
    }
}
