/// A codec that map keys may have: every integer, `bool` and `string`.
public protocol MapKeyCodec: FieldCodec where Value: Hashable {
    /// The canonical order of keys.
    static func precedes(_ first: Value, _ second: Value) -> Bool
}

/// A map field: on the wire a repeated message of a key, field 1, and a value, field 2.
///
/// Source: protobuf "Language Guide (proto 3)", section "Maps", "Backwards compatibility".
public enum ProtoMap<Key: MapKeyCodec, Element: FieldCodec> {
    public typealias Value = [Key.Value: Element.Value]

    @inlinable static var keyTag: UInt32 { 1 << 3 | Key.wireType }
    @inlinable static var valueTag: UInt32 { 2 << 3 | Element.wireType }

    /// Reads one entry. A key that is there already gets the new value; what the entry leaves out is initial.
    @inlinable
    public static func insert(
        into map: inout Value, tag: UInt32, from reader: inout ProtobufReader
    ) throws(DecodingError) {
        // Not for more than most maps have: entries are small, and may all have the same key.
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
    /// By bytes, as every other implementation has it; Swift's `<` compares normalized text.
    @inlinable
    public static func precedes(_ first: String, _ second: String) -> Bool {
        first.utf8.lexicographicallyPrecedes(second.utf8)
    }
}
