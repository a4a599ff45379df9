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
