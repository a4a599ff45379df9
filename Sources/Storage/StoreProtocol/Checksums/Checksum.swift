import Basics

/// A checksum computed by the store. Its text, also in the database, is `CRC32:<base64>` or `CRC32:<base64>-<parts>`.
package struct Checksum: Equatable, Sendable, LosslessStringConvertible {
    package let algorithm: ChecksumAlgorithm
    /// The bytes in big-endian order.
    package let bytes: [UInt8]
    /// The number of parts over whose checksums it was computed (S3's COMPOSITE); 0 = it was computed over the bytes.
    package var partCount = 0

    package init(_ algorithm: ChecksumAlgorithm, _ bytes: [UInt8], partCount: Int = 0) {
        self.algorithm = algorithm
        self.bytes = bytes
        self.partCount = partCount
    }

    package init?(_ description: String) {
        let halves = description.split(separator: ":", maxSplits: 1)
        guard halves.count == 2, let algorithm = ChecksumAlgorithm(rawValue: String(halves[0])) else { return nil }
        let value = halves[1].split(separator: "-")
        guard let encoded = value.first, let bytes = Base64.decode(encoded),
            let partCount = value.count == 1 ? 0 : Int(value[1])
        else { return nil }
        self.init(algorithm, bytes, partCount: partCount)
    }

    package var kind: MultipartChecksum.Kind { partCount == 0 ? .fullObject : .composite }

    /// The checksum in S3's notation.
    package var value: String { Base64.encode(bytes) + (partCount == 0 ? "" : "-\(partCount)") }

    package var description: String { "\(algorithm.rawValue):\(value)" }
}

/// The checksum that a multipart upload was initiated with. Its text in the database is `CRC32:COMPOSITE` or `CRC32:FULL_OBJECT`.
package struct MultipartChecksum: Equatable, Sendable, LosslessStringConvertible {
    /// The kind, with S3's names.
    package enum Kind: String, Sendable {
        /// A checksum over the parts' checksums, in order.
        case composite = "COMPOSITE"
        /// A checksum of the object's bytes, combined from the parts'.
        case fullObject = "FULL_OBJECT"
    }

    package let algorithm: ChecksumAlgorithm
    package let kind: Kind

    /// Returns `nil` for a combination that S3 does not have.
    package init?(_ algorithm: ChecksumAlgorithm, _ kind: Kind?) {
        let standard: Kind = algorithm == .crc64nvme ? .fullObject : .composite
        switch (kind ?? standard, algorithm) {
        case (.composite, .crc64nvme), (.fullObject, .sha1), (.fullObject, .sha256): return nil
        case (let kind, _): self.kind = kind
        }
        self.algorithm = algorithm
    }

    package init?(_ description: String) {
        let halves = description.split(separator: ":").map(String.init)
        guard halves.count == 2, let algorithm = ChecksumAlgorithm(rawValue: halves[0]) else { return nil }
        self.init(algorithm, Kind(rawValue: halves[1]))
    }

    package var description: String { "\(algorithm.rawValue):\(kind.rawValue)" }
}

/// The checksum algorithms that S3 clients may choose in addition to MD5, with S3's names.
package enum ChecksumAlgorithm: String, CaseIterable, Sendable {
    case crc32 = "CRC32"
    case crc32c = "CRC32C"
    case crc64nvme = "CRC64NVME"
    case sha1 = "SHA1"
    case sha256 = "SHA256"

    package var byteCount: Int {
        switch self {
        case .crc32, .crc32c: 4
        case .crc64nvme: 8
        case .sha1: 20
        case .sha256: 32
        }
    }

    /// The method to combine checksums of parts; `nil` for hashes, which cannot be combined.
    package var crc: CRC? {
        switch self {
        case .crc32: .crc32
        case .crc32c: .crc32c
        case .crc64nvme: .crc64nvme
        case .sha1, .sha256: nil
        }
    }
}
