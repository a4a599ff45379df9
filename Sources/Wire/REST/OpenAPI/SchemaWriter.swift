import Basics
import Protobuf
import ProtobufJSON

/// Writes messages and fields as JSON Schema (OpenAPI 3.1, "Schema Object"), and remembers which messages it refers to.
struct SchemaWriter {
    private let schema: Schema
    private let comments: APIComments
    /// The names of the components, by the full names of messages and enums.
    private let names: [String: String]
    /// Full names that were referred to, and have to be components.
    private(set) var referred: Set<String> = []

    init(_ schema: Schema, _ comments: APIComments) {
        self.schema = schema
        self.comments = comments
        // The name without its package, unless two have the same.
        var count: [Substring: Int] = [:]
        let all = Array(schema.messages.keys) + Array(schema.enums.keys)
        for name in all { count[Self.shortName(name), default: 0] += 1 }
        names = Dictionary(
            uniqueKeysWithValues: all.map { name in
                let short = Self.shortName(name)
                return (name, count[short] == 1 ? String(short) : name)
            })
    }

    /// What follows the package, whose parts are in lower case.
    private static func shortName(_ fullName: String) -> Substring {
        var rest = fullName[...]
        while let dot = rest.firstIndex(of: "."), rest.first?.isLowercase == true {
            rest = rest[rest.index(after: dot)...]
        }
        return rest
    }

    func name(_ fullName: String) -> String { names[fullName] ?? fullName }

    /// The schema of a value of a message's type, or of an enum's.
    mutating func reference(_ fullName: String) -> [(String, JSONValue)] {
        if let shape = JSONShape(fullName) { return shape.members }
        referred.insert(fullName)
        return [("$ref", .string("#/components/schemas/\(name(fullName))"))]
    }

    /// The schema of a field, with its description.
    ///
    /// - Parameter fullName: of the field.
    mutating func field(_ field: FieldSchema, _ fullName: String) -> JSONValue {
        var members: [(String, JSONValue)]
        if field.isMap, let value = schema.messages[field.typeName]?.fields.last {
            members = [("type", .string("object")), ("additionalProperties", .members(single(value)))]
        } else if field.isRepeated {
            members = [("type", .string("array")), ("items", .members(single(field)))]
        } else {
            members = single(field)
        }
        if let text = comments[fullName] { members.append(("description", .string(text))) }
        return .members(members)
    }

    private mutating func single(_ field: FieldSchema) -> [(String, JSONValue)] {
        switch field.kind {
        case .message, .enum: reference(field.typeName)
        case .string: [("type", .string("string"))]
        case .bytes: [("type", .string("string")), ("contentEncoding", .string("base64"))]
        case .bool: [("type", .string("boolean"))]
        case .double, .float: [("type", .string("number"))]
        case .int64, .sint64, .sfixed64:
            [("type", .string("string")), ("format", .string("int64")), ("pattern", .string("^-?[0-9]{1,18}$"))]
        case .uint64, .fixed64:
            [("type", .string("string")), ("format", .string("uint64")), ("pattern", .string("^[0-9]{1,18}$"))]
        case .uint32, .fixed32:
            [("type", .string("integer")), ("minimum", .number(0)), ("maximum", .number(Int64(UInt32.max)))]
        default:
            [
                ("type", .string("integer")), ("format", .string("int32")), ("minimum", .number(Int64(Int32.min))),
                ("maximum", .number(Int64(Int32.max))),
            ]
        }
    }

    /// The schema of an object with these fields of a message.
    ///
    /// - Parameter isClosed: whether the object has no other members.
    mutating func object(_ fields: [FieldSchema], of message: String, isClosed: Bool) -> JSONValue {
        var members: [(String, JSONValue)] = [("type", .string("object"))]
        if let text = comments[message] { members.append(("description", .string(text))) }
        var properties: [(String, JSONValue)] = []
        for each in fields { properties.append((each.jsonName, field(each, "\(message).\(each.name)"))) }
        if !properties.isEmpty { members.append(("properties", .members(properties))) }
        if isClosed { members.append(("additionalProperties", .bool(false))) }
        return .members(members)
    }

    /// The schema of a component.
    ///
    /// - Parameter isClosed: whether the object has no other members than those of the message.
    mutating func component(_ fullName: String, isClosed: Bool) -> JSONValue {
        guard let values = schema.enums[fullName]?.valueNames else {
            return object(schema.messages[fullName]?.fields ?? [], of: fullName, isClosed: isClosed)
        }
        var members: [(String, JSONValue)] = [
            ("type", .string("string")), ("enum", .array(values.map { .string($0) })),
        ]
        if let text = comments[fullName] { members.append(("description", .string(text))) }
        return .members(members)
    }

    // MARK: examples

    /// An example of an object with these fields.
    func example(_ fields: [FieldSchema], of message: String, depth: Int = 3) -> JSONValue {
        .members(
            fields.compactMap { field in example(field, "\(message).\(field.name)", depth).map { (field.jsonName, $0) }
            })
    }

    /// `nil` where the field is a message too deep within others, or the second of a oneof.
    func example(_ field: FieldSchema, _ fullName: String, _ depth: Int = 3) -> JSONValue? {
        if field.isMap { return .members([("key", .string("value"))]) }
        guard let value = single(field, fullName, depth) else { return nil }
        return field.isRepeated ? .array([value]) : value
    }

    private func single(_ field: FieldSchema, _ fullName: String, _ depth: Int) -> JSONValue? {
        switch field.kind {
        case .message:
            if let shape = JSONShape(field.typeName) { return shape.example }
            guard depth > 0, let fields = schema.messages[field.typeName]?.fields else { return nil }
            return example(fields, of: field.typeName, depth: depth - 1)
        case .enum:
            let values = schema.enums[field.typeName]?.valueNames ?? []
            return .string(values.count > 1 ? values[1] : values.first ?? "")
        case .string: return .string(comments.quoted(fullName) ?? field.name)
        case .bytes: return .string("AQI=")
        case .bool: return .bool(true)
        case .int64, .sint64, .sfixed64, .uint64, .fixed64: return .string("1")
        default: return .number(1)
        }
    }
}
