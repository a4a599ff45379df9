import CLZMA

/// CRC-64/XZ, which OSS calls `crc64ecma`: computed by liblzma (with carry-less multiplication where the CPU has it),
/// combined here.
struct CRC64: Equatable {
    private(set) var value: UInt64 = 0

    mutating func update(_ bytes: UnsafeRawBufferPointer) {
        guard let start = bytes.baseAddress else { return }
        value = lzma_crc64(start.assumingMemoryBound(to: UInt8.self), bytes.count, value)
    }

    /// The CRC of a message followed by another, from both CRCs and the other's length; the bytes are not needed.
    ///
    /// Appending n bytes multiplies a CRC by x^(8n) modulo the polynomial, as zlib's `crc32_combine` does.
    static func combine(_ first: UInt64, _ second: UInt64, secondLength: Int64) -> UInt64 {
        var shift: UInt64 = one
        var square = one >> 8
        var length = secondLength
        while length > 0 {
            if length & 1 == 1 {
                shift = multiply(shift, square)
            }
            square = multiply(square, square)
            length >>= 1
        }
        return multiply(first, shift) ^ second
    }

    /// The polynomial and its operands are bit-reversed: the highest bit is the coefficient of x^0.
    private static let polynomial: UInt64 = 0xC96C_5795_D787_0F42
    private static let one: UInt64 = 1 << 63

    private static func multiply(_ left: UInt64, _ right: UInt64) -> UInt64 {
        var product: UInt64 = 0
        var shifted = right
        for bit in stride(from: 63, through: 0, by: -1) {
            if left >> UInt64(bit) & 1 == 1 {
                product ^= shifted
            }
            shifted = shifted & 1 == 1 ? shifted >> 1 ^ polynomial : shifted >> 1
        }
        return product
    }
}
