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
