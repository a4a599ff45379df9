import HTTPClient
import XML

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

/// A page of an object store's response to ListParts.
struct StorePartPage: Equatable {
    let parts: [StorePart]
    let isTruncated: Bool

    /// The largest page in bytes: 1,000 parts, including the additions of various stores.
    private static let maximumBytes = 1 << 20

    /// - Parameter marker: number of the last part before the page; 0 on the first page.
    /// - Throws: `unusable`, also for parts that are not in ascending order, so that a store cannot list more than the maximum,
    ///   however many pages it sends.
    init(_ body: [UInt8], after marker: Int) throws(TransferFailure) {
        // Stores differ in the name of the document.
        let document = try? XMLElement(parsing: body, maximumBytes: Self.maximumBytes)
        guard let document, document["UploadId"] != nil else { throw StoreClient.misunderstood("UploadId") }
        var parts: [StorePart] = []
        for element in document.children where element.name == "Part" {
            guard let part = StorePart(element), part.number > parts.last?.number ?? marker else {
                throw StoreClient.misunderstood("Part")
            }
            parts.append(part)
        }
        isTruncated = document["IsTruncated"] == "true"
        guard !isTruncated || !parts.isEmpty else { throw StoreClient.misunderstood("NextPartNumberMarker") }
        self.parts = parts
    }
}

extension StorePart {
    fileprivate init?(_ element: XMLElement) {
        guard let number = element["PartNumber"].flatMap({ Int($0) }), number > 0, number <= PartRange.maximumCount,
            let size = element["Size"].flatMap({ Int64($0) }), size >= 0,
            let etag = element["ETag"], etag.utf8.count <= StoreClient.maximumTokenBytes
        else { return nil }
        let crc64 = element["HashCrc64ecma"].flatMap { UInt64($0) }
        self.init(number: number, size: size, etag: etag, crc64: crc64)
    }
}

/// A part of a file.
package struct PartRange: Sendable, Hashable {
    /// The largest number of parts in a multipart upload.
    package static let maximumCount: Int64 = 10_000

    /// The number, from 1.
    package let number: Int
    package let bytes: Range<Int64>

    package init(number: Int, bytes: Range<Int64>) {
        self.number = number
        self.bytes = bytes
    }

    /// Returns the parts of a file of `size` bytes, each but the last with `partSize`, which is above 0.
    package static func all(size: Int64, partSize: Int64) -> [PartRange] {
        stride(from: 0, to: size, by: Int64.Stride(partSize)).enumerated().map { index, start in
            PartRange(number: index + 1, bytes: start..<start + min(partSize, size - start))
        }
    }
}
