public import JSON
public import Protobuf

/// The JSON mapping of proto3, with all of its well-known types.
///
/// Converts encoded messages to JSON and back, using a schema. The conversion through the encoded form costs one more pass; in
/// return the generated types contain no code for JSON, and `Any` and messages without a Swift type are supported.
///
/// Source: protobuf "ProtoJSON Format".
public struct JSONMapping: Sendable {
    public let schema: Schema

    /// - Parameter schema: contains every mapped message, the messages nested in it, and those that an `Any` may contain.
    public init(schema: Schema) {
        self.schema = schema
    }

    /// Writes a message as JSON, without insignificant white space.
    ///
    /// - Parameter includesInitialValues: whether fields without presence, and empty lists and maps, are written even if not set.
    public func text(
        _ message: some Message, includesInitialValues: Bool = false
    ) throws(JSONError) -> [UInt8] {
        try text(
            encoded: message.encoded(canonical: true), of: type(of: message).fullName,
            includesInitialValues: includesInitialValues)
    }

    /// Writes an encoded message as JSON.
    public func text(
        encoded: [UInt8], of fullName: String, includesInitialValues: Bool = false
    ) throws(JSONError) -> [UInt8] {
        try text(encoded: encoded, of: fullName, format: JSONFormat(unset: includesInitialValues ? .initial : .omitted))
    }

    /// Returns an encoded message as JSON in a form other than protobuf's own.
    public func text(encoded: [UInt8], of fullName: String, format: JSONFormat) throws(JSONError) -> [UInt8] {
        var writer = JSONMessageWriter(schema: schema, format: format)
        try writer.message(encoded, of: fullName)
        return writer.output
    }

    /// Returns one field of an encoded message as JSON, without the surrounding message.
    public func text(
        of field: FieldSchema, in encoded: [UInt8], of fullName: String, format: JSONFormat
    ) throws(JSONError) -> [UInt8] {
        var writer = JSONMessageWriter(schema: schema, format: format)
        try writer.field(field, in: encoded, of: fullName)
        return writer.output
    }

    /// Reads a message from JSON.
    ///
    /// - Parameter ignoresUnknownFields: whether members without a field and unknown names of enum values are skipped.
    public func message<M: Message>(
        _ type: M.Type = M.self, from json: [UInt8], ignoresUnknownFields: Bool = false
    ) throws(JSONError) -> M {
        let bytes = try encode(json, as: M.fullName, ignoresUnknownFields: ignoresUnknownFields)
        do throws(DecodingError) {
            return try M(decoding: bytes)
        } catch {
            throw JSONError(error == .tooDeep ? .tooDeep : .invalidValue)
        }
    }

    /// Reads JSON into the encoded form of a message.
    public func encode(
        _ json: [UInt8], as fullName: String, ignoresUnknownFields: Bool = false
    ) throws(JSONError) -> [UInt8] {
        var reader = JSONMessageReader(json, schema: schema, ignoresUnknownFields: ignoresUnknownFields)
        return try reader.document(of: fullName)
    }
}

/// The options for the JSON of a message.
public struct JSONFormat: Sendable {
    /// The output for unset fields without presence, lists and maps; with `null`, also for the others.
    public var unset: UnsetFields
    /// Whether fields have the names of the .proto file instead of lowerCamelCase.
    public var usesProtoNames: Bool

    public init(unset: UnsetFields = .omitted, usesProtoNames: Bool = false) {
        self.unset = unset
        self.usesProtoNames = usesProtoNames
    }
}

extension JSONMapping {
    /// Returns the paths of the members of a JSON object, with the names of the .proto file: for a single nested message the paths
    /// of its members, otherwise the member's own. Members that are not fields are omitted.
    ///
    /// The result is the field mask of a PATCH without one (AIP-134).
    package func memberPaths(_ json: [UInt8], of fullName: String) throws(JSONError) -> [String] {
        var paths = JSONMemberPaths(json, schema)
        try paths.object(fullName, prefix: "")
        return paths.found
    }
}

private struct JSONMemberPaths {
    private var scanner: JSONScanner
    private let schema: Schema
    private(set) var found: [String] = []

    init(_ text: [UInt8], _ schema: Schema) {
        scanner = JSONScanner(text, .message)
        self.schema = schema
    }

    mutating func object(_ fullName: String, prefix: String) throws(JSONError) {
        var isFirst = true
        try scanner.beginObject()
        while let name = try scanner.nextMember(&isFirst) {
            guard let field = schema.messages[fullName]?.field(name) else {
                try scanner.skip()
                continue
            }
            if field.kind == .message, !field.isRepeated, WellKnownType(rawValue: field.typeName) == nil,
                scanner.next(is: "{")
            {
                try object(field.typeName, prefix: "\(prefix)\(field.name).")
            } else {
                found.append(prefix + field.name)
                try scanner.skip()
            }
        }
    }
}

extension JSONRules {
    /// For messages, which are nested no deeper than their encoded form may be.
    static let message = {
        var rules = JSONRules.json
        rules.maximumDepth = ProtobufReader.depthLimit
        return rules
    }()
}
