import CFolding
import CLZMA

/// CRC-64/XZ, OSS's `crc64ecma`, computed by liblzma.
package struct CRC64: FoldedCRC, Equatable {
    package internal(set) var value: UInt64 = 0

    package init() {}

    package mutating func update(_ bytes: UnsafeRawBufferPointer) { add(bytes) }

    static func shorten(
        _ bytes: UnsafePointer<UInt8>, _ count: Int, state: UInt64, width: Int32,
        to shortened: UnsafeMutablePointer<UInt8>
    ) -> Int {
        folding_crc64(bytes, count, state, width, shortened)
    }

    static func whole(_ bytes: UnsafePointer<UInt8>, _ count: Int, after value: UInt64) -> UInt64 {
        lzma_crc64(bytes, count, value)
    }
}
