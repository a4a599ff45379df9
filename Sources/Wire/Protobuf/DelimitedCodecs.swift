public enum ProtoString: FieldCodec {
    public typealias Value = String

    @inlinable public static var wireType: UInt32 { WireType.delimited }
    @inlinable public static var initial: String { "" }

    @inlinable
    @inline(__always)
    public static func isInitial(_ value: String) -> Bool { value.utf8.isEmpty }

    @inlinable
    @inline(__always)
    public static func merge(into value: inout String, from reader: inout ProtobufReader) throws(DecodingError) {
        value = try reader.string()
    }

    @inlinable
    @inline(__always)
    public static func payloadSize(_ value: String) -> Int {
        let count = value.utf8.count
        return Varint.size(UInt64(truncatingIfNeeded: count)) &+ count
    }

    @inlinable
    @inline(__always)
    public static func writePayload(_ value: String, to writer: inout ProtobufWriter) {
        writer.delimited { $0.utf8(value) }
    }
}

public enum ProtoBytes: FieldCodec {
    public typealias Value = [UInt8]

    @inlinable public static var wireType: UInt32 { WireType.delimited }
    @inlinable public static var initial: [UInt8] { [] }

    @inlinable
    @inline(__always)
    public static func isInitial(_ value: [UInt8]) -> Bool { value.isEmpty }

    @inlinable
    @inline(__always)
    public static func merge(into value: inout [UInt8], from reader: inout ProtobufReader) throws(DecodingError) {
        value = [UInt8](try reader.delimited())
    }

    @inlinable
    @inline(__always)
    public static func payloadSize(_ value: [UInt8]) -> Int {
        Varint.size(UInt64(truncatingIfNeeded: value.count)) &+ value.count
    }

    @inlinable
    @inline(__always)
    public static func writePayload(_ value: [UInt8], to writer: inout ProtobufWriter) {
        writer.delimited { writer in value.withUnsafeBytes { writer.bytes($0) } }
    }
}

public enum ProtoMessage<Value: Message>: FieldCodec {
    @inlinable public static var wireType: UInt32 { WireType.delimited }
    @inlinable public static var initial: Value { Value() }

    /// Returns false: a message field has presence and is never omitted.
    @inlinable public static func isInitial(_ value: Value) -> Bool { false }

    @inlinable
    public static func merge(into value: inout Value, from reader: inout ProtobufReader) throws(DecodingError) {
        let outerEnd = try reader.enter()
        try value.merge(from: &reader)
        reader.leave(to: outerEnd)
    }

    @inlinable
    public static func payloadSize(_ value: Value) -> Int {
        let size = value.encodedSize
        return Varint.size(UInt64(truncatingIfNeeded: size)) &+ size
    }

    @inlinable
    public static func writePayload(_ value: Value, to writer: inout ProtobufWriter) {
        writer.delimited { value.write(to: &$0) }
    }

    @inlinable
    public static func size(repeated values: [Value], tag: UInt32) -> Int {
        values.withUnsafeBufferPointer { values in
            var size = values.count &* Varint.size(UInt64(tag))
            guard let first = UnsafeMutablePointer(mutating: values.baseAddress) else { return size }
            for index in values.indices { size &+= payloadSize(at: &first[index]) }
            return size
        }
    }

    @inlinable
    public static func write(repeated values: [Value], tag: UInt32, to writer: inout ProtobufWriter) {
        values.withUnsafeBufferPointer { values in
            guard let first = UnsafeMutablePointer(mutating: values.baseAddress) else { return }
            for index in values.indices.reversed() { write(at: &first[index], tag: tag, to: &writer) }
        }
    }

    // An element of an array is copied for each call, with every reference in it, because the call might change the array. An
    // exclusive access to it is not; the functions that have it are not inlined, because an inlined one would copy again. They
    // change nothing.

    @inlinable @inline(never)
    static func payloadSize(at value: inout Value) -> Int { payloadSize(value) }

    @inlinable @inline(never)
    static func write(at value: inout Value, tag: UInt32, to writer: inout ProtobufWriter) {
        write(present: value, tag: tag, to: &writer)
    }
}
