import Basics

/// The destinations of copy jobs, and their limits.
package struct CopyJobsConfiguration: Sendable {
    /// The number of items that are copied in parallel, over all jobs. Organizations share them, see `SharedSlots`.
    package var workers = 4
    /// The largest number of items in one job.
    package var items = 1000
    /// The largest number of unfinished jobs of one organization.
    package var jobs = 100
    /// The time for which an item is retried after a transient failure, counted from the first of several failures without progress
    /// in between.
    package var retryDuration = Duration.minutes(5)
    /// The time for which a finished job can be queried.
    package var retention = Duration.days(90)
    /// The pause after an error of the database.
    var pause = Duration.seconds(5)
    package var destinations: [CopyTarget] = []

    package init() {}
}
