import CFolding
import CLZMA

/// CRC-32 (ISO 3309), S3's `CRC32` and the checksum of zip archives, computed by liblzma.
package struct CRC32: FoldedCRC, Equatable {
    package internal(set) var value: UInt32 = 0

    package init() {}

    package mutating func update(_ bytes: UnsafeRawBufferPointer) { add(bytes) }

    static func shorten(
        _ bytes: UnsafePointer<UInt8>, _ count: Int, state: UInt32, width: Int32,
        to shortened: UnsafeMutablePointer<UInt8>
    ) -> Int {
        folding_crc32(bytes, count, state, width, shortened)
    }

    static func whole(_ bytes: UnsafePointer<UInt8>, _ count: Int, after value: UInt32) -> UInt32 {
        lzma_crc32(bytes, count, value)
    }
}
