import CLZMA
import StoreProtocol

/// CRC-64/XZ, OSS's `crc64ecma`, computed by liblzma, with carry-less multiplication if the CPU has it.
package struct CRC64: Equatable {
    package private(set) var value: UInt64 = 0

    package init() {}

    package mutating func update(_ bytes: UnsafeRawBufferPointer) {
        guard let start = bytes.baseAddress else { return }
        value = lzma_crc64(start.assumingMemoryBound(to: UInt8.self), bytes.count, value)
    }

    static func combine(_ first: UInt64, _ second: UInt64, secondLength: Int64) -> UInt64 {
        CRC.crc64.combine(first, second, secondLength: secondLength)
    }
}
