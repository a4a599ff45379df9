/// How the values of one protobuf type travel. Generated code names a codec per field, and everything specialises.
///
/// The codecs are `ProtoInt32`, `ProtoString`, `ProtoMessage<M>` and so on, after the types of the language.
public protocol FieldCodec {
    associatedtype Value: Sendable, Equatable

    static var wireType: UInt32 { get }
    /// What a field holds that was never set.
    static var initial: Value { get }

    static func isInitial(_ value: Value) -> Bool
    /// Reads a value; a message is merged into `value`, everything else replaces it.
    static func merge(into value: inout Value, from reader: inout ProtobufReader) throws(DecodingError)
    /// The encoded length, with a length prefix where there is one, without the tag.
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

    /// The same for length-delimited elements; makes room for all that follow at once.
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
