import Basics
import Database

/// What became of jobs and items, and what waits; read at any time, by any thread.
package final class CopyMetrics: Sendable {
    /// Numbers of items by state: finished ones since the start, the others as they are now.
    package struct Counts: Sendable, Hashable {
        package var jobs: [CopyJobState: Int] = [:]
        package var items: [CopyItemState: Int] = [:]
        /// Attempts that failed and are made again.
        package var retries = 0
        /// Sent to a destination, or written there.
        package var bytes = 0
    }

    private let database: Database
    private let counts = Lock(Counts())

    init(database: Database) {
        self.database = database
    }

    func update(_ change: (inout Counts) -> Void) {
        counts.withLock { change(&$0) }
    }

    /// Counts what has not come to its end; where that cannot be done there is none.
    package var snapshot: Counts {
        var counts = counts.withLock { $0 }
        if let unfinished = try? database.readBlocking({ try CopyRecords($0).countUnfinished() }) {
            counts.jobs.merge(unfinished.jobs) { $1 }
            counts.items.merge(unfinished.items) { $1 }
        }
        return counts
    }
}
