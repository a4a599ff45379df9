import ObjectStore

/// An object of an object store, and where that is.
public struct StoreObject: Sendable {
    public let endpoint: StoreEndpoint
    /// Of the signature's scope; empty where none is known.
    public let region: String
    public let bucket: String
    public let key: String
    /// What the store speaks.
    public let dialect: ClientRequest.Dialect

    /// - Parameter region: as it was issued; where that is empty, the endpoint's own.
    public init(
        endpoint: StoreEndpoint, region: String = "", bucket: String, key: String, dialect: ClientRequest.Dialect = .oss
    ) {
        self.endpoint = endpoint
        self.region = region.isEmpty ? endpoint.region : region
        self.bucket = bucket
        self.key = key
        self.dialect = dialect
    }
}

/// A part as the store acknowledged it.
public struct StorePart: Codable, Sendable, Hashable {
    /// 1 to 10,000.
    public let number: Int
    /// Bytes.
    public let size: Int64
    /// Exactly as the store gave it.
    public let etag: String
    /// CRC-64/XZ; `nil` where the store did not say.
    public let crc64: UInt64?

    public init(number: Int, size: Int64, etag: String, crc64: UInt64?) {
        self.number = number
        self.size = size
        self.etag = etag
        self.crc64 = crc64
    }
}
