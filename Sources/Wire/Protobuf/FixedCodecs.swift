/// A codec of values with 4 or 8 little-endian bytes, which is also their form in memory, so packed fields are copied as a whole.
/// (The supported platforms are little-endian; `Bits` converts single values nevertheless.)
public protocol FixedCodec: PackedCodec where Value: BitwiseCopyable {
    associatedtype Bits: FixedWidthInteger

    static func value(_ bits: Bits) -> Value
    static func bits(_ value: Value) -> Bits
}

extension FixedCodec {
    @inlinable
    public static var wireType: UInt32 { MemoryLayout<Bits>.size == 8 ? WireType.fixed64 : WireType.fixed32 }

    @inlinable public static var initial: Value { value(0) }

    /// Compares bits: −0.0 is not the initial value of a floating-point field.
    @inlinable
    @inline(__always)
    public static func isInitial(_ value: Value) -> Bool { bits(value) == 0 }

    @inlinable
    @inline(__always)
    public static func merge(into value: inout Value, from reader: inout ProtobufReader) throws(DecodingError) {
        value = Self.value(try reader.fixed(Bits.self))
    }

    @inlinable
    @inline(__always)
    public static func payloadSize(_ value: Value) -> Int { MemoryLayout<Bits>.size }

    @inlinable
    @inline(__always)
    public static func writePayload(_ value: Value, to writer: inout ProtobufWriter) { writer.fixed(bits(value)) }

    @inlinable
    public static func appendAll(to values: inout [Value], from reader: inout ProtobufReader) throws(DecodingError) {
        let width = MemoryLayout<Bits>.size
        let bytes = UnsafeRawBufferPointer(start: reader.cursor, count: reader.remaining)
        guard bytes.count % width == 0 else { throw .invalidPackedLength }
        let elements = [Value](unsafeUninitializedCapacity: bytes.count / width) { buffer, count in
            UnsafeMutableRawBufferPointer(buffer).copyMemory(from: bytes)
            count = bytes.count / width
        }
        if values.isEmpty { values = elements } else { values += elements }
        reader.cursor += bytes.count
    }

    @inlinable
    public static func packedSize(_ values: [Value]) -> Int { values.count &* MemoryLayout<Bits>.size }

    @inlinable
    public static func writeAll(_ values: [Value], to writer: inout ProtobufWriter) {
        values.withUnsafeBytes { writer.bytes($0) }
    }
}

public enum ProtoFixed32: FixedCodec {
    public typealias Value = UInt32

    @inlinable public static func value(_ bits: UInt32) -> UInt32 { bits }
    @inlinable public static func bits(_ value: UInt32) -> UInt32 { value }
}

public enum ProtoFixed64: FixedCodec {
    public typealias Value = UInt64

    @inlinable public static func value(_ bits: UInt64) -> UInt64 { bits }
    @inlinable public static func bits(_ value: UInt64) -> UInt64 { value }
}

public enum ProtoSFixed32: FixedCodec {
    public typealias Value = Int32

    @inlinable public static func value(_ bits: UInt32) -> Int32 { Int32(bitPattern: bits) }
    @inlinable public static func bits(_ value: Int32) -> UInt32 { UInt32(bitPattern: value) }
}

public enum ProtoSFixed64: FixedCodec {
    public typealias Value = Int64

    @inlinable public static func value(_ bits: UInt64) -> Int64 { Int64(bitPattern: bits) }
    @inlinable public static func bits(_ value: Int64) -> UInt64 { UInt64(bitPattern: value) }
}

public enum ProtoFloat: FixedCodec {
    public typealias Value = Float

    @inlinable public static func value(_ bits: UInt32) -> Float { Float(bitPattern: bits) }
    @inlinable public static func bits(_ value: Float) -> UInt32 { value.bitPattern }
}

public enum ProtoDouble: FixedCodec {
    public typealias Value = Double

    @inlinable public static func value(_ bits: UInt64) -> Double { Double(bitPattern: bits) }
    @inlinable public static func bits(_ value: Double) -> UInt64 { value.bitPattern }
}
