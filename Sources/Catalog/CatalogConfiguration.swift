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

    public init() {}
}
