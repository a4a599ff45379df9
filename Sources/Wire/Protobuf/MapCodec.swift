/// A codec for map keys: every integer type, `bool` and `string`.
public protocol MapKeyCodec: FieldCodec where Value: Hashable {
    /// Whether one key precedes another in the canonical order.
    static func precedes(_ first: Value, _ second: Value) -> Bool
}

/// A map field, encoded as a repeated message with the key as field 1 and the value as field 2.
///
/// Source: protobuf "Language Guide (proto 3)", section "Maps", "Backwards compatibility".
public enum ProtoMap<Key: MapKeyCodec, Element: FieldCodec> {
    public typealias Value = [Key.Value: Element.Value]

    @inlinable static var keyTag: UInt32 { 1 << 3 | Key.wireType }
    @inlinable static var valueTag: UInt32 { 2 << 3 | Element.wireType }

    /// Reads one entry. An existing key gets the new value; a key or value that the entry omits is initial.
    @inlinable
    public static func insert(
        into map: inout Value, tag: UInt32, from reader: inout ProtobufReader
    ) throws(DecodingError) {
        // At most the size of most maps: entries are small, and may all have the same key.
        if map.isEmpty { map.reserveCapacity(min(reader.run(of: tag), 32)) }
        let outerEnd = try reader.enter()
        var key = Key.initial
        var value = Element.initial
        while let tag = try reader.nextTag() {
            switch tag {
            case keyTag: try Key.merge(into: &key, from: &reader)
            case valueTag: try Element.merge(into: &value, from: &reader)
            default: try reader.skip(tag)
            }
        }
        map[key] = value
        reader.leave(to: outerEnd)
    }

    @inlinable
    public static func size(_ map: Value, tag: UInt32) -> Int {
        var size = map.count &* Varint.size(UInt64(tag))
        for (key, value) in map {
            let entry = Key.size(present: key, tag: keyTag) &+ Element.size(present: value, tag: valueTag)
            size &+= Varint.size(UInt64(truncatingIfNeeded: entry)) &+ entry
        }
        return size
    }

    @inlinable
    public static func write(_ map: Value, tag: UInt32, to writer: inout ProtobufWriter) {
        if writer.isCanonical {
            for (key, value) in map.sorted(by: { Key.precedes($1.key, $0.key) }) {
                writeEntry(key, value, tag: tag, to: &writer)
            }
        } else {
            for (key, value) in map { writeEntry(key, value, tag: tag, to: &writer) }
        }
    }

    @inlinable
    static func writeEntry(
        _ key: Key.Value, _ value: Element.Value, tag: UInt32, to writer: inout ProtobufWriter
    ) {
        writer.delimited { writer in
            Element.write(present: value, tag: valueTag, to: &writer)
            Key.write(present: key, tag: keyTag, to: &writer)
        }
        writer.varint(UInt64(tag))
    }
}

extension MapKeyCodec where Value: Comparable {
    @inlinable public static func precedes(_ first: Value, _ second: Value) -> Bool { first < second }
}

extension ProtoInt32: MapKeyCodec {}
extension ProtoInt64: MapKeyCodec {}
extension ProtoUInt32: MapKeyCodec {}
extension ProtoUInt64: MapKeyCodec {}
extension ProtoSInt32: MapKeyCodec {}
extension ProtoSInt64: MapKeyCodec {}
extension ProtoFixed32: MapKeyCodec {}
extension ProtoFixed64: MapKeyCodec {}
extension ProtoSFixed32: MapKeyCodec {}
extension ProtoSFixed64: MapKeyCodec {}

extension ProtoBool: MapKeyCodec {
    @inlinable public static func precedes(_ first: Bool, _ second: Bool) -> Bool { !first && second }
}

extension ProtoString: MapKeyCodec {
    /// Compares bytes, like every other implementation; Swift's `<` compares normalized text.
    @inlinable
    public static func precedes(_ first: String, _ second: String) -> Bool {
        first.utf8.lexicographicallyPrecedes(second.utf8)
    }
}
