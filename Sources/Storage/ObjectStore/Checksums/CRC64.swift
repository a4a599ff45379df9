import CFolding
import CLZMA
import StoreProtocol

/// CRC-64/XZ, OSS's `crc64ecma`, computed by liblzma from a shortened message.
package struct CRC64: Equatable {
    package private(set) var value: UInt64 = 0

    package init() {}

    private static let width = folding_width()

    package mutating func update(_ bytes: UnsafeRawBufferPointer) {
        update(bytes, width: Self.width)
    }

    /// - Parameter width: the width of the CPU's instructions that are used, in bits; at most `folding_width()`.
    mutating func update(_ bytes: UnsafeRawBufferPointer, width: Int32) {
        guard let start = bytes.baseAddress?.assumingMemoryBound(to: UInt8.self) else { return }
        var used = 0
        withUnsafeTemporaryAllocation(of: UInt8.self, capacity: 16) { shortened in
            guard let shortened = shortened.baseAddress else { return }
            used = folding_crc64(start, bytes.count, ~value, width, shortened)
            if used > 0 { value = lzma_crc64(shortened, 16, .max) }
        }
        value = lzma_crc64(start + used, bytes.count - used, value)
    }

    static func combine(_ first: UInt64, _ second: UInt64, secondLength: Int64) -> UInt64 {
        CRC.crc64.combine(first, second, secondLength: secondLength)
    }
}
