import Basics
import Database

/// What became of jobs and items, and what waits; read at any time, by any thread.
package final class CopyMetrics: Sendable {
    /// What has not come to its end, by state.
    package struct Unfinished: Sendable, Hashable {
        package var jobs: [CopyJobState: Int] = [:]
        package var items: [CopyItemState: Int] = [:]
    }

    package struct Counts: Sendable, Hashable {
        /// What came to its end since the start, by state.
        package var jobs: [CopyJobState: Int] = [:]
        package var items: [CopyItemState: Int] = [:]
        /// What waits or is worked on now; `nil` where the database does not say.
        package var unfinished: Unfinished?
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

    package var snapshot: Counts {
        var counts = counts.withLock { $0 }
        counts.unfinished = try? database.readBlocking { try CopyRecords($0).countUnfinished() }
        return counts
    }
}
