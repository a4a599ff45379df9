import Basics

/// Where jobs may copy to, and how much they may ask for.
package struct CopyJobsConfiguration: Sendable {
    /// Items that are copied at once, of all jobs together.
    package var workers = 2
    /// In one job.
    package var items = 1000
    /// Unfinished jobs that one organization may have.
    package var jobs = 100
    /// How long an item is tried again after a failure that may pass; since the first of several without any progress
    /// between them.
    package var patience = Duration.minutes(5)
    /// How long a finished job can be asked for.
    package var retention = Duration.days(90)
    /// After trouble with the database.
    var pause = Duration.seconds(5)
    package var destinations: [CopyTarget] = []

    package init() {}
}
