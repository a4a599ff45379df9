import Basics
package import Capability
package import Settings
import StoreClient

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

extension CopyJobsConfiguration: CapabilitySettings {
    /// Reads the section `copy`: the destinations of copy jobs, and their limits.
    package init(_ settings: SettingsReader, _ context: SettingsContext) {
        self.init()
        let section = settings.section("copy")
        workers = section.integer("workers", default: workers, in: 1...64, unit: "items")
        items = section.integer("max_items", default: items, in: 1...10_000, unit: "items")
        jobs = section.integer("max_jobs", default: jobs, in: 1...10_000, unit: "jobs")
        retryDuration = section.duration("retry_seconds", default: retryDuration, in: 0...604_800)
        retention = section.duration("retention_days", default: retention, in: 1...3650, unit: .days)
        destinations = section.elements("destinations") { CopyTarget($0) }
    }
}

extension CopyTarget {
    /// Reads an element of `copy.destinations`; `nil` after a fault without which it cannot be read further.
    fileprivate init?(_ settings: SettingsReader) {
        let organizations = settings.list("organizations", standard: "all", bounds: "names")
        if organizations?.isEmpty == true {
            settings.reject("organizations", "must name at least one organization")
        }
        guard let kind = settings.choice("kind", as: DestinationKind.self) else { return nil }
        if let dialect = kind.dialect {
            guard let bucket = BucketSettings(settings, dialect) else { return nil }
            self = .bucket(BucketTarget(bucket), organizations: organizations)
        } else {
            guard let root = settings.folder() else { return nil }
            self = .folder(FolderTarget(root: root), organizations: organizations)
        }
    }
}

extension BucketTarget {
    fileprivate init(_ bucket: BucketSettings) {
        self.init(
            BucketLocation(endpoint: bucket.endpoint, bucket: bucket.bucket, region: bucket.region),
            dialect: bucket.dialect, credentials: bucket.credentials, partSize: bucket.partSize,
            authorities: bucket.authorities)
    }
}
