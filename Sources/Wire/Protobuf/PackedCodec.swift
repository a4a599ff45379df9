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
