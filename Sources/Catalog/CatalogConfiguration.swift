import Platform

/// How the catalog answers.
public struct CatalogConfiguration: Sendable {
    /// Seconds that a presigned URL holds.
    public var downloadLifetime: Int64 = 900
    /// Bytes above which a client had better read in ranges.
    public var largeFileThreshold: Int64 = 67_108_864
    /// Bytes of such a range.
    public var rangePartSize: Int64 = 16_777_216
    /// File ids in one RequestDownload.
    public var downloadFiles = 1000
    /// Rows that one page of ListObjects looks at where its filter has no index of its own.
    public var pageVisits = 2000
    /// Days for which it is known of a deleted object that it was there.
    public var deletedDays: Int64 = 400

    /// How fast objects are read again to see whether their bytes are still right; bytes a second, 0 = never.
    @Live public var scrubRate: Int64 = 8 << 20
    /// Seconds from the beginning of one pass over all objects to that of the next, at least.
    @Live public var scrubInterval: Int64 = 86_400
    /// Told of an object's file id and what is wrong with it; `nil` = it is right again.
    public var onScrubbed: @Sendable (String, String?) -> Void = { _, _ in }
    /// Told why the objects could not be read again; it is tried again after a while.
    public var onScrubFailure: @Sendable (any Error) -> Void = { _ in }

    public init() {}
}
