/// What S3's clients may have computed over a body, beside its MD5; by the names that S3 has for them.
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

    /// How checksums of parts make that of the whole; nil for a hash, which they cannot make.
    package var crc: CRC? {
        switch self {
        case .crc32: .crc32
        case .crc32c: .crc32c
        case .crc64nvme: .crc64nvme
        case .sha1, .sha256: nil
        }
    }
}
