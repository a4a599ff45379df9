import Crypto
import StoreProtocol

/// What a client computes of the bytes that it sends or gets, to compare with what the store says of them. Used by one
/// thread at a time.
package struct ContentDigest {
    private let md5 = IncrementalDigest(.md5)
    /// CRC-64/XZ of what came so far.
    package private(set) var crc64: UInt64 = 0

    package init() {}

    package mutating func update(_ bytes: UnsafeRawBufferPointer) {
        md5.update(bytes)
        crc64 = CRC.crc64.updated(crc64, bytes)
    }

    /// 16 bytes. To be asked once.
    package func finalizedMD5() -> [UInt8] { md5.finalize() }

    /// The CRC-64 of pieces that follow each other.
    package static func crc64(of pieces: some Sequence<(crc64: UInt64, size: Int64)>) -> UInt64 {
        pieces.reduce(0) { CRC.crc64.combine($0, $1.crc64, secondLength: $1.size) }
    }
}
