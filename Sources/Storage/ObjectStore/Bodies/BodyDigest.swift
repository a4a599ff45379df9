import Basics
import Checksums
import Crypto
package import StoreProtocol

/// The digests of a body, computed while it arrives. Used by one thread at a time.
package struct BodyDigest {
    private let checks: BodyChecks
    private let md5 = IncrementalDigest(.md5)
    private var crc64 = CRC64()
    private var crc32 = CRC32()
    private let sha256: IncrementalDigest?
    private var checksum: RunningChecksum?
    private(set) var count: Int64 = 0

    package init(_ checks: BodyChecks) {
        self.checks = checks
        // A hash and a checksum with the same function are computed once.
        sha256 = checks.sha256 == nil || checks.algorithm == .sha256 ? nil : IncrementalDigest(.sha256)
        checksum = checks.algorithm.flatMap { $0 == .crc32 ? nil : RunningChecksum($0) }
    }

    package mutating func update(_ bytes: UnsafeRawBufferPointer) {
        md5.update(bytes)
        crc64.update(bytes)
        crc32.update(bytes)
        sha256?.update(bytes)
        checksum?.update(bytes)
        count += Int64(bytes.count)
    }

    /// Returns the digests of all bytes. May be called once.
    ///
    /// - Throws: if they differ from those in the request.
    package func finalize() throws(ObjectStoreError) -> Stored {
        let computed =
            checks.algorithm == .crc32 ? Checksum(.crc32, crc32.value.bigEndianBytes) : checksum?.finalize()
        let stored = Stored(
            size: count, md5: md5.finalize(), crc64: crc64.value, crc32: crc32.value, checksum: computed)
        if let expected = checks.sha256, expected != sha256?.finalize() ?? computed?.bytes {
            throw .sha256Mismatch
        }
        if let expected = checks.contentMD5, expected != stored.md5 {
            throw .md5Mismatch
        }
        if let computed, let expected = checks.checksum, expected != computed.bytes {
            throw .checksumMismatch(computed.algorithm)
        }
        return stored
    }

    package struct Stored: Equatable, Sendable {
        let size: Int64
        let md5: [UInt8]
        let crc64: UInt64
        let crc32: UInt32
        let checksum: Checksum?
    }
}
