package import Capability
package import Settings
import StoreClient

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
