/// The base-128 encoding of integers, least significant group first.
///
/// Source: protobuf "Encoding", section "Base 128 Varints".
public enum Varint {
    /// The encoded length of `value`, 1 to 10 bytes.
    @inlinable
    @inline(__always)
    public static func size(_ value: UInt64) -> Int {
        // ⌈bits / 7⌉ without a division: 9/64 is close enough to 1/7 for 1...64 bits.
        (((63 &- (value | 1).leadingZeroBitCount) &* 9) &+ 73) / 64
    }
}

extension [UInt8] {
    package mutating func append(varint value: UInt64) {
        var rest = value
        while rest >= 0x80 {
            append(UInt8(truncatingIfNeeded: rest) | 0x80)
            rest >>= 7
        }
        append(UInt8(truncatingIfNeeded: rest))
    }
}
