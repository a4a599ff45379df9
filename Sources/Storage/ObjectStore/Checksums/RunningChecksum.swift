import Basics
import Checksums
import Crypto
import StoreProtocol

/// A checksum of bytes that arrive in pieces. Used by one thread at a time.
struct RunningChecksum {
    private enum State {
        case crc32(CRC32)
        case crc(CRC, UInt64)
        case hash(IncrementalDigest)
    }

    private let algorithm: ChecksumAlgorithm
    private var state: State

    init(_ algorithm: ChecksumAlgorithm) {
        self.algorithm = algorithm
        state =
            switch algorithm {
            case .crc32: .crc32(CRC32())
            case .crc32c: .crc(.crc32c, 0)
            case .crc64nvme: .crc(.crc64nvme, 0)
            case .sha1: .hash(IncrementalDigest(.sha1))
            case .sha256: .hash(IncrementalDigest(.sha256))
            }
    }

    mutating func update(_ bytes: UnsafeRawBufferPointer) {
        switch state {
        case .crc32(var crc):
            crc.update(bytes)
            state = .crc32(crc)
        case .crc(let crc, let value):
            state = .crc(crc, crc.updated(value, bytes))
        case .hash(let digest):
            digest.update(bytes)
        }
    }

    /// Returns the checksum. May be called once.
    func finalize() -> Checksum {
        switch state {
        case .crc32(let crc): Checksum(algorithm, crc.value.bigEndianBytes)
        case .crc(_, let value): Checksum(algorithm, Array(value.bigEndianBytes.suffix(algorithm.byteCount)))
        case .hash(let digest): Checksum(algorithm, digest.finalize())
        }
    }
}
