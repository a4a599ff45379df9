/// A codec of values that are encoded as varints: `Value` to and from 64 bits.
public protocol VarintCodec: PackedCodec {
    static func value(_ bits: UInt64) -> Value
    static func bits(_ value: Value) -> UInt64
}

extension VarintCodec {
    @inlinable public static var wireType: UInt32 { WireType.varint }
    @inlinable public static var initial: Value { value(0) }

    @inlinable
    @inline(__always)
    public static func isInitial(_ value: Value) -> Bool { bits(value) == 0 }

    @inlinable
    @inline(__always)
    public static func merge(into value: inout Value, from reader: inout ProtobufReader) throws(DecodingError) {
        value = Self.value(try reader.varint())
    }

    @inlinable
    @inline(__always)
    public static func payloadSize(_ value: Value) -> Int { Varint.size(bits(value)) }

    @inlinable
    @inline(__always)
    public static func writePayload(_ value: Value, to writer: inout ProtobufWriter) { writer.varint(bits(value)) }

    @inlinable
    public static func appendAll(to values: inout [Value], from reader: inout ProtobufReader) throws(DecodingError) {
        // Every varint has exactly one byte without a continuation bit: counting them first makes one allocation.
        let bytes = UnsafeRawBufferPointer(start: reader.cursor, count: reader.remaining)
        var count = 0
        for byte in bytes { count &+= Int(truncatingIfNeeded: (byte >> 7) ^ 1) }
        values.reserveForAppending(count)
        while reader.remaining > 0 { values.append(value(try reader.varint())) }
    }

    @inlinable
    public static func packedSize(_ values: [Value]) -> Int {
        var size = 0
        for value in values { size &+= payloadSize(value) }
        return size
    }

    @inlinable
    public static func writeAll(_ values: [Value], to writer: inout ProtobufWriter) {
        for value in values.reversed() { writePayload(value, to: &writer) }
    }
}

extension Array {
    /// Reserves space for `count` more elements but at least doubles the capacity, since a field may arrive in many small packed
    /// pieces.
    @inlinable
    mutating func reserveForAppending(_ count: Int) {
        if self.count &+ count > capacity { reserveCapacity(Swift.max(self.count &+ count, capacity &* 2)) }
    }
}

public enum ProtoInt32: VarintCodec {
    public typealias Value = Int32

    @inlinable public static func value(_ bits: UInt64) -> Int32 { Int32(truncatingIfNeeded: bits) }
    @inlinable public static func bits(_ value: Int32) -> UInt64 { UInt64(bitPattern: Int64(value)) }
}

public enum ProtoInt64: VarintCodec {
    public typealias Value = Int64

    @inlinable public static func value(_ bits: UInt64) -> Int64 { Int64(bitPattern: bits) }
    @inlinable public static func bits(_ value: Int64) -> UInt64 { UInt64(bitPattern: value) }
}

public enum ProtoUInt32: VarintCodec {
    public typealias Value = UInt32

    @inlinable public static func value(_ bits: UInt64) -> UInt32 { UInt32(truncatingIfNeeded: bits) }
    @inlinable public static func bits(_ value: UInt32) -> UInt64 { UInt64(value) }
}

public enum ProtoUInt64: VarintCodec {
    public typealias Value = UInt64

    @inlinable public static func value(_ bits: UInt64) -> UInt64 { bits }
    @inlinable public static func bits(_ value: UInt64) -> UInt64 { value }
}

/// `sint32`: zigzag encoding, which makes small negative numbers short.
public enum ProtoSInt32: VarintCodec {
    public typealias Value = Int32

    @inlinable
    public static func value(_ bits: UInt64) -> Int32 {
        let zigzag = UInt32(truncatingIfNeeded: bits)
        return Int32(bitPattern: (zigzag >> 1) ^ (0 &- (zigzag & 1)))
    }

    @inlinable
    public static func bits(_ value: Int32) -> UInt64 { UInt64(UInt32(bitPattern: (value << 1) ^ (value >> 31))) }
}

/// `sint64`: zigzag encoding, which makes small negative numbers short.
public enum ProtoSInt64: VarintCodec {
    public typealias Value = Int64

    @inlinable public static func value(_ bits: UInt64) -> Int64 { Int64(bitPattern: (bits >> 1) ^ (0 &- (bits & 1))) }
    @inlinable public static func bits(_ value: Int64) -> UInt64 { UInt64(bitPattern: (value << 1) ^ (value >> 63)) }
}

public enum ProtoBool: VarintCodec {
    public typealias Value = Bool

    @inlinable public static func value(_ bits: UInt64) -> Bool { bits != 0 }
    @inlinable public static func bits(_ value: Bool) -> UInt64 { value ? 1 : 0 }
}

public enum ProtoEnum<Enum: ProtobufEnum>: VarintCodec {
    public typealias Value = Enum

    @inlinable public static func value(_ bits: UInt64) -> Enum { Enum(rawValue: Int32(truncatingIfNeeded: bits)) }
    @inlinable public static func bits(_ value: Enum) -> UInt64 { UInt64(bitPattern: Int64(value.rawValue)) }
}

/// A protobuf enum. It is open, as proto3 requires: a number without a name is kept as `.unrecognized`.
public protocol ProtobufEnum: Sendable, Hashable, CaseIterable {
    init(rawValue: Int32)
    var rawValue: Int32 { get }
}

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
