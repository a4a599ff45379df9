import StoreProtocol

/// An object of an object store, and where that is.
package struct StoreObject: Sendable {
    package let endpoint: StoreEndpoint
    /// The region in the signature's scope; empty where none is known.
    package let region: String
    package let bucket: String
    package let key: String
    /// What the store speaks.
    package let dialect: ClientRequest.Dialect

    /// - Parameter region: as it was issued; where that is empty, the endpoint's own.
    package init(
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
package struct StorePart: Codable, Sendable, Hashable {
    /// 1 to 10,000.
    package let number: Int
    /// Bytes.
    package let size: Int64
    /// Exactly as the store gave it.
    package let etag: String
    /// CRC-64/XZ; `nil` where the store did not say.
    package let crc64: UInt64?

    package init(number: Int, size: Int64, etag: String, crc64: UInt64?) {
        self.number = number
        self.size = size
        self.etag = etag
        self.crc64 = crc64
    }
}
