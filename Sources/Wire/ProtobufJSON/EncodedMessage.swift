import Protobuf

/// The fields of an encoded message, grouped by its schema; unknown fields are omitted.
struct EncodedMessage {
    let schema: MessageSchema
    /// The values of each field of the schema in the order of arrival, with packed ones split. Of a oneof only the field that
    /// arrived last has values.
    private(set) var values: [[WireValue]]

    init(_ bytes: [UInt8], of schema: MessageSchema) throws(DecodingError) {
        self.schema = schema
        values = Array(repeating: [], count: schema.fields.count)
        try bytes.withUnsafeBufferPointer { (buffer) throws(DecodingError) in
            guard let start = buffer.baseAddress else { return }
            var reader = ProtobufReader(start: UnsafeRawPointer(start), count: buffer.count)
            try readAll(from: &reader)
        }
    }

    private mutating func readAll(from reader: inout ProtobufReader) throws(DecodingError) {
        var oneofs: [Int32: Int] = [:]
        while let tag = try reader.nextTag() {
            let index = schema.index(ofNumber: tag >> 3)
            guard let index, try read(tag, schema.fields[index], at: index, from: &reader) else {
                try reader.skip(tag)
                continue
            }
            guard let oneof = schema.fields[index].oneof else { continue }
            if let other = oneofs.updateValue(index, forKey: oneof), other != index { values[other] = [] }
        }
    }

    /// Reads the value if its wire type is valid for the field.
    private mutating func read(
        _ tag: UInt32, _ field: FieldSchema, at index: Int, from reader: inout ProtobufReader
    ) throws(DecodingError) -> Bool {
        let wireType = field.kind.wireType
        if tag & 7 == wireType, wireType != WireType.startGroup {
            values[index].append(try reader.value(wireType))
            return true
        }
        guard field.isRepeated, field.kind.isPackable, tag & 7 == WireType.delimited else { return false }
        let bytes = try reader.delimited()
        guard let start = bytes.baseAddress else { return true }
        var elements = ProtobufReader(start: start, count: bytes.count)
        while elements.remaining > 0 { values[index].append(try elements.value(wireType)) }
        return true
    }

    /// Returns the value of a singular field. A message that arrived in pieces is merged by joining their bytes.
    func value(_ index: Int) -> WireValue? {
        guard schema.fields[index].kind == .message else { return values[index].last }
        guard values[index].count > 1 else { return values[index].first }
        var merged: [UInt8] = []
        for case .delimited(let bytes) in values[index] { merged += bytes }
        return .delimited(merged)
    }

    /// Returns the value of the singular field with this number.
    func value(number: UInt32) -> WireValue? {
        schema.index(ofNumber: number).flatMap { value($0) }
    }
}

extension ProtobufReader {
    mutating func value(_ wireType: UInt32) throws(DecodingError) -> WireValue {
        switch wireType {
        case WireType.varint: .varint(try varint())
        case WireType.fixed64: .fixed64(try fixed(UInt64.self))
        case WireType.fixed32: .fixed32(try fixed(UInt32.self))
        default: .delimited([UInt8](try delimited()))
        }
    }
}
