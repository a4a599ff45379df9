import Basics
import Checksums
import Crypto
package import StoreProtocol

/// The digests of a body, computed while it arrives. Used by one thread at a time.
package struct BodyDigest {
    private var md5: RunningMD5
    private var checksums: BodyChecksums

    package init(_ checks: BodyChecks) {
        self.init(md5: RunningMD5(), BodyChecksums(checks))
    }

    /// - Parameter md5: that of the same bytes as the checksums.
    init(md5: RunningMD5, _ checksums: BodyChecksums) {
        self.md5 = md5
        self.checksums = checksums
    }

    package mutating func update(_ bytes: UnsafeRawBufferPointer) {
        md5.update(bytes)
        checksums.update(bytes)
    }

    /// Returns the digests of all bytes. May be called once.
    ///
    /// - Throws: if they differ from those in the request.
    package func finalize() throws(ObjectStoreError) -> Stored {
        let checks = checksums.checks
        let computed = checksums.finalize()
        let stored = Stored(
            size: checksums.count, running: md5, md5: md5.finalize(), crc64: checksums.crc64.value,
            crc32: checksums.crc32.value, checksum: computed)
        if let expected = checks.sha256, expected != checksums.sha256?.finalize() ?? computed?.bytes {
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
        /// The MD5, to which more bytes can be added.
        let running: RunningMD5
        let md5: [UInt8]
        let crc64: UInt64
        let crc32: UInt32
        let checksum: Checksum?

        var content: FileContent { FileContent(size: size, crc64: crc64) }

        /// Returns the properties of an object with these bytes.
        func whole(_ etags: ETag.Form) -> StoredObject.Content {
            StoredObject.Content(
                size: size, etag: ETag.whole(md5: md5, etags), crc64: crc64, crc32: crc32, checksum: checksum)
        }
    }
}

/// The digests of a body without its MD5. Used by one thread at a time.
struct BodyChecksums {
    fileprivate let checks: BodyChecks
    fileprivate private(set) var crc64 = CRC64()
    fileprivate private(set) var crc32 = CRC32()
    fileprivate let sha256: IncrementalDigest?
    private var checksum: RunningChecksum?
    fileprivate private(set) var count: Int64 = 0

    init(_ checks: BodyChecks) {
        self.checks = checks
        // A hash and a checksum with the same function are computed once.
        sha256 = checks.sha256 == nil || checks.algorithm == .sha256 ? nil : IncrementalDigest(.sha256)
        checksum = checks.algorithm.flatMap { $0 == .crc32 ? nil : RunningChecksum($0) }
    }

    mutating func update(_ bytes: UnsafeRawBufferPointer) {
        crc64.update(bytes)
        crc32.update(bytes)
        sha256?.update(bytes)
        checksum?.update(bytes)
        count += Int64(bytes.count)
    }

    /// Returns the checksum that the request asks for. May be called once.
    fileprivate func finalize() -> Checksum? {
        checks.algorithm == .crc32 ? Checksum(.crc32, crc32.value.bigEndianBytes) : checksum?.finalize()
    }
}

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

extension MultipartChecksum {
    /// Returns the object's checksum; `nil` if a part has none.
    func combined(_ parts: [(checksum: Checksum?, size: Int64)]) -> Checksum? {
        let checksums = parts.compactMap(\.checksum).filter { $0.algorithm == algorithm }
        guard checksums.count == parts.count else { return nil }
        switch kind {
        case .composite:
            var running = RunningChecksum(algorithm)
            for checksum in checksums { checksum.bytes.withUnsafeBytes { running.update($0) } }
            return Checksum(algorithm, running.finalize().bytes, partCount: parts.count)
        case .fullObject:
            guard let crc = algorithm.crc else { return nil }
            let whole = zip(checksums, parts).reduce(0 as UInt64) { whole, next in
                let (checksum, part) = next
                return crc.combine(whole, UInt64(bigEndianBytes: checksum.bytes), secondLength: part.size)
            }
            return Checksum(algorithm, Array(whole.bigEndianBytes.suffix(algorithm.byteCount)))
        }
    }
}
