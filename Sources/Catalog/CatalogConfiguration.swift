import Basics

/// How the catalog answers.
package struct CatalogConfiguration: Sendable {
    /// How long a presigned URL holds.
    package var downloadLifetime = Duration.minutes(15)
    /// Bytes above which a client had better read in ranges.
    package var largeFileThreshold: Int64 = 67_108_864
    /// Bytes of such a range.
    package var rangePartSize: Int64 = 16_777_216
    /// File ids in one RequestDownload.
    package var downloadFiles = 1000
    /// Rows that one page of ListObjects looks at where its filter has no index of its own.
    package var pageVisits = 2000
    /// How long it is known of a deleted object that it was there.
    package var deletedRetention = Duration.days(400)

    /// How long a finished operation can be asked for.
    package var operationRetention = Duration.days(90)

    /// How fast objects are read again to see whether their bytes are still right; bytes a second, 0 = never.
    @Live package var scrubRate: Int64 = 8 << 20
    /// The time from the beginning of one pass over all objects to that of the next, at least.
    @Live package var scrubInterval = Duration.days(1)

    package init() {}
}
