/// The encoding of the values of one protobuf type. Generated code names a codec for each field, and the compiler specializes it.
///
/// The codecs are `ProtoInt32`, `ProtoString`, `ProtoMessage<M>` and so on, named after the types of the language.
public protocol FieldCodec {
    associatedtype Value: Sendable, Equatable

    static var wireType: UInt32 { get }
    /// The value of a field that was never set.
    static var initial: Value { get }

    static func isInitial(_ value: Value) -> Bool
    /// Reads a value: a message is merged into `value`, any other type replaces it.
    static func merge(into value: inout Value, from reader: inout ProtobufReader) throws(DecodingError)
    /// Returns the encoded length without the tag, including a length prefix if there is one.
    static func payloadSize(_ value: Value) -> Int
    static func writePayload(_ value: Value, to writer: inout ProtobufWriter)
}

extension FieldCodec {
    @inlinable
    @inline(__always)
    public static func read(from reader: inout ProtobufReader) throws(DecodingError) -> Value {
        var value = initial
        try merge(into: &value, from: &reader)
        return value
    }
}

// MARK: Fields without presence: the initial value is not sent

extension FieldCodec {
    @inlinable
    @inline(__always)
    public static func size(_ value: Value, tag: UInt32) -> Int {
        isInitial(value) ? 0 : Varint.size(UInt64(tag)) &+ payloadSize(value)
    }

    @inlinable
    @inline(__always)
    public static func write(_ value: Value, tag: UInt32, to writer: inout ProtobufWriter) {
        if isInitial(value) { return }
        writePayload(value, to: &writer)
        writer.varint(UInt64(tag))
    }
}

// MARK: Fields with presence

extension FieldCodec {
    @inlinable
    @inline(__always)
    public static func merge(into value: inout Value?, from reader: inout ProtobufReader) throws(DecodingError) {
        var present = value.take() ?? initial
        try merge(into: &present, from: &reader)
        value = present
    }

    @inlinable
    @inline(__always)
    public static func size(present value: Value, tag: UInt32) -> Int {
        Varint.size(UInt64(tag)) &+ payloadSize(value)
    }

    @inlinable
    @inline(__always)
    public static func write(present value: Value, tag: UInt32, to writer: inout ProtobufWriter) {
        writePayload(value, to: &writer)
        writer.varint(UInt64(tag))
    }

    @inlinable
    @inline(__always)
    public static func size(optional value: Value?, tag: UInt32) -> Int {
        guard let value else { return 0 }
        return size(present: value, tag: tag)
    }

    @inlinable
    @inline(__always)
    public static func write(optional value: Value?, tag: UInt32, to writer: inout ProtobufWriter) {
        guard let value else { return }
        write(present: value, tag: tag, to: &writer)
    }
}

// MARK: Repeated fields, one tag for each element

extension FieldCodec {
    @inlinable
    @inline(__always)
    public static func append(to values: inout [Value], from reader: inout ProtobufReader) throws(DecodingError) {
        values.append(try read(from: &reader))
    }

    /// Reads a length-delimited element and all that follow it, reserving space once.
    @inlinable
    @inline(__always)
    public static func append(
        to values: inout [Value], tag: UInt32, from reader: inout ProtobufReader
    ) throws(DecodingError) {
        if values.count == values.capacity { values.reserveForAppending(reader.run(of: tag)) }
        values.append(try read(from: &reader))
    }

    @inlinable
    public static func size(repeated values: [Value], tag: UInt32) -> Int {
        var size = values.count &* Varint.size(UInt64(tag))
        for index in values.indices { size &+= payloadSize(values[index]) }
        return size
    }

    @inlinable
    public static func write(repeated values: [Value], tag: UInt32, to writer: inout ProtobufWriter) {
        var index = values.count
        while index > 0 {
            index &-= 1
            write(present: values[index], tag: tag, to: &writer)
        }
    }
}

/// A codec whose repeated fields may be packed: one tag and one length for all elements.
public protocol PackedCodec: FieldCodec {
    /// Appends all elements up to the reader's end.
    static func appendAll(to values: inout [Value], from reader: inout ProtobufReader) throws(DecodingError)
    /// Returns the encoded length of the elements only.
    static func packedSize(_ values: [Value]) -> Int
    static func writeAll(_ values: [Value], to writer: inout ProtobufWriter)
}

extension PackedCodec {
    @inlinable
    public static func append(packed values: inout [Value], from reader: inout ProtobufReader) throws(DecodingError) {
        let count = try reader.length()
        let outerEnd = reader.end
        reader.end = reader.cursor + count
        try appendAll(to: &values, from: &reader)
        reader.end = outerEnd
    }

    @inlinable
    public static func size(packed values: [Value], tag: UInt32) -> Int {
        if values.isEmpty { return 0 }
        let size = packedSize(values)
        return Varint.size(UInt64(tag)) &+ Varint.size(UInt64(size)) &+ size
    }

    @inlinable
    public static func write(packed values: [Value], tag: UInt32, to writer: inout ProtobufWriter) {
        if values.isEmpty { return }
        writer.delimited { writeAll(values, to: &$0) }
        writer.varint(UInt64(tag))
    }
}
