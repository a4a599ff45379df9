import Protobuf

extension Schema {
    /// Returns the first string field of an encoded message whose value has the character U+0000, with the fields around it from the
    /// outermost to the last. Of a map, and of a well-known type with a JSON form of its own, the field itself is the last.
    ///
    /// - Returns: an empty list if there is no such field, or the bytes are not a message of that type.
    package func fieldWithNullCharacter(
        in message: UnsafeRawBufferPointer, of fullName: String
    ) -> [FieldSchema] {
        search(message, fullName, depthLeft: ProtobufReader.depthLimit) ?? []
    }

    private func search(
        _ message: UnsafeRawBufferPointer, _ fullName: String, depthLeft: Int
    ) -> [FieldSchema]? {
        guard depthLeft > 0, let start = message.baseAddress, let schema = messages[fullName] else { return nil }
        var reader = ProtobufReader(start: start, count: message.count)
        do throws(DecodingError) {
            while let tag = try reader.nextTag() {
                guard let index = schema.index(ofNumber: tag >> 3), tag == schema.fields[index].tag,
                    tag & 7 == WireType.delimited
                else {
                    try reader.skip(tag)
                    continue
                }
                let (field, value) = (schema.fields[index], try reader.delimited())
                switch field.kind {
                case .string where value.contains(0): return [field]
                case .message:
                    guard let inner = search(value, field.typeName, depthLeft: depthLeft - 1) else { continue }
                    return field.isMap || WellKnownType(rawValue: field.typeName) != nil ? [field] : [field] + inner
                default: continue
                }
            }
        } catch {
            return nil
        }
        return nil
    }
}
