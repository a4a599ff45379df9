package import Basics
package import Capability
package import Settings

/// The settings of the catalog: lifetimes, sizes and limits.
package struct CatalogConfiguration: Sendable {
    /// The lifetime of a presigned URL, if the request names none.
    package var downloadLifetime = Duration.minutes(15)
    /// The longest lifetime that a request may name; at most 7 days, which the object store accepts.
    package var longestDownloadLifetime = Duration.days(7)
    /// The size in bytes above which clients should read in ranges.
    package var largeFileThreshold: Int64 = 67_108_864
    /// The size of such a range in bytes.
    package var rangePartSize: Int64 = 16_777_216
    /// The largest number of file ids in one RequestDownload.
    package var downloadFiles = 1000
    /// The number of rows that one page of ListObjects reads if no index serves its filter.
    package var pageVisits = 2000
    /// The retention of the records of deleted objects.
    package var deletedRetention = Duration.days(400)

    /// The largest number of objects in an archive.
    package var archivedObjects = 10_000
    /// The largest number of archives that are sent at the same time; each has a thread. Organizations share them, see
    /// `SharedSlots`.
    package var archives = 16

    /// The time for which a finished operation can be queried.
    package var operationRetention = Duration.days(90)

    /// The rate at which objects are read again to verify them, in bytes a second; 0 = never.
    package let scrubRate = Live(8 << 20 as Int64)
    /// The shortest time between the beginnings of two passes over all objects.
    package let scrubInterval = Live(Duration.days(1))

    package init() {}
}

extension CatalogConfiguration: CapabilitySettings {
    /// Reads the sections `downloads` and `scrub`.
    package init(_ settings: SettingsReader, _ context: SettingsContext) {
        self.init()
        longestDownloadLifetime = settings.section("downloads").duration(
            "max_lifetime_seconds", default: longestDownloadLifetime, in: 900...604_800)
        let scrub = settings.section("scrub")
        scrubRate.value = scrub.integer("bytes_per_second", default: scrubRate.value, in: 0...(1 << 40), unit: "bytes")
        scrubInterval.value = scrub.duration("interval_seconds", default: scrubInterval.value, in: 1...34_560_000)
    }

    package static var liveSections: [String] { ["scrub"] }

    package func take(_ fresh: Self) {
        scrubRate.value = fresh.scrubRate.value
        scrubInterval.value = fresh.scrubInterval.value
    }
}
