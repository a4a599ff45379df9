package import Protobuf

/// The path of a field in a message, or in a nested message: `object.bucket`.
public struct FieldPath: Sendable {
    /// The fields from the outermost to the last; all but the last are single messages. Not empty.
    public let fields: [FieldSchema]

    /// `nil` if a name is unknown, or a field before the last is not a single message.
    ///
    /// - Parameters:
    ///   - path: names of the .proto file or of JSON, separated by dots.
    ///   - message: the full name of the outermost message.
    public init?(_ path: some StringProtocol, in message: String, of schema: Schema) {
        var fields: [FieldSchema] = []
        var type = message
        for name in path.split(separator: ".", omittingEmptySubsequences: false) {
            if let outer = fields.last {
                guard outer.kind == .message, !outer.isRepeated, WellKnownType(rawValue: outer.typeName) == nil else {
                    return nil
                }
                type = outer.typeName
            }
            guard let field = schema.messages[type]?.field(String(name)) else { return nil }
            fields.append(field)
        }
        self.fields = fields
    }

    /// The path with the names of the .proto file.
    public var name: String { fields.map(\.name).joined(separator: ".") }

    /// The last field.
    public var last: FieldSchema { fields[fields.count - 1] }

    /// Appends a value of the field to an encoded message. Existing fields of the nested messages are kept, because protobuf merges
    /// the parts of a message.
    package func append(_ value: WireValue, to message: inout [UInt8]) {
        guard fields.count > 1 else { return message.append(field: last.tag, value) }
        var inner: [UInt8] = []
        inner.append(field: last.tag, value)
        for field in fields.dropLast().dropFirst().reversed() {
            var outer: [UInt8] = []
            outer.append(field: field.tag, .delimited(inner))
            inner = outer
        }
        message.append(field: fields[0].tag, .delimited(inner))
    }
}
