import Crypto
package import HTTPClient
import StoreProtocol

/// The digests of sent or received bytes, for comparison with the store's. Used by one thread at a time.
package struct ContentDigest {
    private let md5 = IncrementalDigest(.md5)
    /// CRC-64/XZ of the bytes so far.
    package private(set) var crc64: UInt64 = 0

    package init() {}

    package mutating func update(_ bytes: UnsafeRawBufferPointer) {
        md5.update(bytes)
        crc64 = CRC.crc64.updated(crc64, bytes)
    }

    /// Returns the MD5, 16 bytes. May be called once.
    package func finalizedMD5() -> [UInt8] { md5.finalize() }

    /// Returns the CRC-64 of consecutive pieces.
    package static func crc64(of pieces: some Sequence<(crc64: UInt64, size: Int64)>) -> UInt64 {
        pieces.reduce(0) { CRC.crc64.combine($0, $1.crc64, secondLength: $1.size) }
    }
}

extension RangedBytes {
    /// Returns the digest of a part of the bytes; `nil` if they end before it. It reads the part, so it must not be called on
    /// an event loop.
    package func digest(of range: Range<Int64>) throws -> ContentDigest? {
        var digest = ContentDigest()
        var count: Int64 = 0
        try forEachBlock(of: range) { block in
            digest.update(block)
            count += Int64(block.count)
        }
        return count == Int64(range.count) ? digest : nil
    }
}
