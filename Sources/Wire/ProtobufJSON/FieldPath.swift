import Protobuf

/// A field of a message, or of a message within it: `object.bucket`.
public struct FieldPath: Sendable {
    /// From the outermost to the field itself; all but the last are single messages. Not empty.
    public let fields: [FieldSchema]

    /// `nil` where a name is unknown, or one before the last is no single message.
    ///
    /// - Parameters:
    ///   - path: names as in the file or as in JSON, divided by dots.
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

    /// The path with the names of the file.
    public var name: String { fields.map(\.name).joined(separator: ".") }

    /// The field itself.
    public var last: FieldSchema { fields[fields.count - 1] }

    /// Adds a value of the field to an encoded message. What the message has of the messages around the field stays: protobuf
    /// merges the pieces of a message.
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
