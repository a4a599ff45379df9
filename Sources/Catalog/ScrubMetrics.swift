import Basics

/// What the scrubber counted; read at any time, by any thread.
package final class ScrubMetrics: Sendable {
    package struct Counts: Sendable, Hashable {
        package var bytes = 0
        package var objects = 0
        /// Passes that came to their end.
        package var passes = 0
        package var failures = 0
        /// How many objects are bad now; `nil` until that was read from the database.
        package var bad: Int?
    }

    private let counts = Lock(Counts())

    package var snapshot: Counts { counts.withLock { $0 } }

    func update(_ change: (inout Counts) -> Void) {
        counts.withLock { change(&$0) }
    }
}
