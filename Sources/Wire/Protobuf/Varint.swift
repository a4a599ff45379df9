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

    /// The encoded length of `value` as `int32` and `int64` have it: a negative number takes ten bytes.
    @inlinable
    @inline(__always)
    static func size(signed value: Int64) -> Int {
        size(UInt64(bitPattern: value))
    }
}
