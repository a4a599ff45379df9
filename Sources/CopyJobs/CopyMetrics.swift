import Basics
import Database

/// The counters of jobs and items; any thread may read them at any time.
package final class CopyMetrics: Sendable {
    /// The numbers of unfinished jobs and items, by state.
    package struct Unfinished: Sendable, Hashable {
        package var jobs: [CopyJobState: Int] = [:]
        package var items: [CopyItemState: Int] = [:]
    }

    package struct Counts: Sendable, Hashable {
        /// The numbers of jobs and items finished since the start, by state.
        package var jobs: [CopyJobState: Int] = [:]
        package var items: [CopyItemState: Int] = [:]
        /// The unfinished jobs and items; `nil` if the database cannot be read.
        package var unfinished: Unfinished?
        /// The number of failed attempts that are retried.
        package var retries = 0
        /// The number of bytes sent or written to destinations.
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
