import StoreProtocol

/// An object in an object store, with its location.
package struct StoreObject: Sendable {
    package let endpoint: StoreEndpoint
    /// The region in the signature's scope; empty if unknown.
    package let region: String
    package let bucket: String
    package let key: String
    /// The store's protocol.
    package let dialect: ClientRequest.Dialect

    /// - Parameter region: the issued region; if that is empty, the endpoint's own.
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

/// An acknowledged part.
package struct StorePart: Codable, Sendable, Hashable {
    /// The number, 1 to 10,000.
    package let number: Int
    /// The size in bytes.
    package let size: Int64
    /// The ETag exactly as the store returned it.
    package let etag: String
    /// CRC-64/XZ; `nil` if the store did not return it.
    package let crc64: UInt64?

    package init(number: Int, size: Int64, etag: String, crc64: UInt64?) {
        self.number = number
        self.size = size
        self.etag = etag
        self.crc64 = crc64
    }
}
