import CFolding
import CLZMA

/// A checksum that a library computes from the bytes, or several times as fast from a shortened message that carry-less
/// multiplication makes of them.
protocol FoldedCRC {
    associatedtype Value: FixedWidthInteger & UnsignedInteger

    var value: Value { get set }

    /// Shortens a message to 16 bytes with the same remainder (see `folding.h`).
    ///
    /// - Returns: the number of bytes that the shortened message stands for; 0 if the message is too short for the CPU's instructions.
    static func shorten(
        _ bytes: UnsafePointer<UInt8>, _ count: Int, state: Value, width: Int32,
        to shortened: UnsafeMutablePointer<UInt8>
    ) -> Int

    /// Returns the library's checksum of the bytes of `value` followed by `bytes`.
    static func whole(_ bytes: UnsafePointer<UInt8>, _ count: Int, after value: Value) -> Value
}

/// The width of the CPU's instructions in bits.
private let availableWidth = folding_width()

extension FoldedCRC {
    /// Adds bytes.
    ///
    /// - Parameter width: the width of the CPU's instructions that are used, in bits; at most that of the CPU, which `nil` stands for.
    mutating func add(_ bytes: UnsafeRawBufferPointer, width: Int32? = nil) {
        guard let start = bytes.baseAddress?.assumingMemoryBound(to: UInt8.self) else { return }
        let used = withUnsafeTemporaryAllocation(of: UInt8.self, capacity: 16) { shortened in
            guard let shortened = shortened.baseAddress else { return 0 }
            let used = Self.shorten(
                start, bytes.count, state: ~value, width: width ?? availableWidth, to: shortened)
            if used > 0 { value = Self.whole(shortened, 16, after: .max) }
            return used
        }
        value = Self.whole(start + used, bytes.count - used, after: value)
    }
}

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
