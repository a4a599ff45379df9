import Basics
import JSON
import Protobuf
import ProtobufJSON

/// Writes messages and fields as JSON Schema (OpenAPI 3.1, "Schema Object"), and records the messages that they refer to.
struct SchemaWriter {
    private let schema: Schema
    private let comments: APIComments
    /// The names of the components, by the full names of messages and enums.
    private let names: [String: String]
    /// The styles of the services with JSON of their own form, by the full names of their messages.
    private let styles: [String: RESTStyle]
    private let rules: [String: ValueRule]
    /// The full names that were referred to, and must become components.
    private(set) var referred: Set<String> = []

    init(
        _ schema: Schema, _ comments: APIComments, styles: [String: RESTStyle], rules: [String: ValueRule]
    ) {
        self.schema = schema
        self.comments = comments
        self.styles = styles
        self.rules = rules
        // The name without its package, unless two are the same.
        var count: [Substring: Int] = [:]
        let all = Array(schema.messages.keys) + Array(schema.enums.keys)
        for name in all { count[Self.shortName(name), default: 0] += 1 }
        names = Dictionary(
            uniqueKeysWithValues: all.map { name in
                let short = Self.shortName(name)
                return (name, count[short] == 1 ? String(short) : name)
            })
    }

    /// Returns the name after the package, whose parts are in lower case.
    private static func shortName(_ fullName: String) -> Substring {
        var rest = fullName[...]
        while let dot = rest.firstIndex(of: "."), rest.first?.isLowercase == true {
            rest = rest[rest.index(after: dot)...]
        }
        return rest
    }

    func name(_ fullName: String) -> String { names[fullName] ?? fullName }

    /// Returns the schema for a value of a message or an enum.
    mutating func reference(_ fullName: String) -> [(String, JSONValue)] {
        if let shape = JSONShape(fullName) { return shape.members }
        referred.insert(fullName)
        return [("$ref", .string("#/components/schemas/\(name(fullName))"))]
    }

    /// Returns the schema of a field, with its description.
    ///
    /// - Parameter fullName: the field's full name.
    mutating func field(_ field: FieldSchema, _ fullName: String) -> JSONValue {
        var members: [(String, JSONValue)]
        if field.isMap, let value = schema.messages[field.typeName]?.fields.last {
            members = [("type", .string("object")), ("additionalProperties", .members(single(value)))]
        } else if field.isRepeated {
            members = [("type", .string("array")), ("items", .members(single(field, fullName)))]
            members += rule(field, fullName)?.listMembers ?? []
        } else {
            members = single(field, fullName)
        }
        if let text = comments[fullName] { members.append(("description", .string(text))) }
        return .members(members)
    }

    /// Returns the rule for the values of a field.
    private func rule(_ field: FieldSchema, _ fullName: String) -> ValueRule? {
        rules[fullName] ?? rules[".\(field.name)"]
    }

    /// Returns the schema of one value of a field.
    private mutating func single(_ field: FieldSchema, _ fullName: String) -> [(String, JSONValue)] {
        guard let rule = rule(field, fullName)?.members else { return single(field) }
        return single(field).filter { member in !rule.contains { $0.0 == member.0 } } + rule
    }

    private mutating func single(_ field: FieldSchema) -> [(String, JSONValue)] {
        switch field.kind {
        case .message, .enum: reference(field.typeName)
        case .string: [("type", .string("string"))]
        case .bytes: [("type", .string("string")), ("contentEncoding", .string("base64"))]
        case .bool: [("type", .string("boolean"))]
        case .double, .float: [("type", .string("number"))]
        case .int64, .sint64, .sfixed64:
            [
                ("type", .string("string")), ("format", .string("int64")),
                ("pattern", .string("^(0|-?[1-9][0-9]{0,17})$")),
            ]
        case .uint64, .fixed64:
            [
                ("type", .string("string")), ("format", .string("uint64")),
                ("pattern", .string("^(0|[1-9][0-9]{0,17})$")),
            ]
        case .uint32, .fixed32:
            [("type", .string("integer")), ("minimum", .number(0)), ("maximum", .number(Int64(UInt32.max)))]
        default:
            [
                ("type", .string("integer")), ("format", .string("int32")), ("minimum", .number(Int64(Int32.min))),
                ("maximum", .number(Int64(Int32.max))),
            ]
        }
    }

    /// Returns the schema of an object with these fields of a message.
    ///
    /// - Parameter isClosed: whether other members are not permitted.
    mutating func object(_ fields: [FieldSchema], of message: String, isClosed: Bool) -> JSONValue {
        var members: [(String, JSONValue)] = [("type", .string("object"))]
        if let text = comments[message] { members.append(("description", .string(text))) }
        var properties: [(String, JSONValue)] = []
        for each in fields {
            let value = field(each, "\(message).\(each.name)")
            let mayBeNull =
                styles[message]?.unset == .null && each.hasPresence && !each.isRepeated && each.oneof == nil
            properties.append((member(each, of: message), mayBeNull ? value.orNull : value))
        }
        if !properties.isEmpty { members.append(("properties", .members(properties))) }
        let required = required(fields, of: message)
        if !required.isEmpty {
            members.append(("required", .array(required.map { .string(member($0, of: message)) })))
        }
        if isClosed { members.append(("additionalProperties", .bool(false))) }
        return .members(members)
    }

    /// Returns the fields that a message must have.
    func required(_ fields: [FieldSchema], of message: String) -> [FieldSchema] {
        fields.filter { field in
            guard !field.isRepeated, let rule = rule(field, "\(message).\(field.name)") else { return false }
            return rule.requires(hasPresence: field.hasPresence)
        }
    }

    /// Returns the name of a field in JSON.
    private func member(_ field: FieldSchema, of message: String) -> String {
        styles[message]?.protoNames == true ? field.name : field.jsonName
    }

    /// Returns the schema of a component.
    ///
    /// - Parameter isClosed: whether members other than the message's fields are not permitted.
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

    // MARK: Examples

    /// Returns an example of an object with these fields.
    func example(_ fields: [FieldSchema], of message: String, depth: Int = 3) -> JSONValue {
        .members(
            fields.compactMap { field in
                example(field, "\(message).\(field.name)", depth).map { (member(field, of: message), $0) }
            })
    }

    /// `nil` if the field is a message nested too deeply, or not the first of a oneof.
    func example(_ field: FieldSchema, _ fullName: String, _ depth: Int = 3) -> JSONValue? {
        if field.isMap { return .members([("key", .string("value"))]) }
        guard let value = rule(field, fullName)?.example ?? single(field, fullName, depth) else { return nil }
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

extension JSONValue {
    /// Returns a schema that permits null beside the values of this one.
    fileprivate var orNull: JSONValue {
        guard case .object(let members) = self else { return self }
        if let type = members.firstIndex(where: { $0.name == "type" }) {
            var members = members
            members[type] = Member(name: "type", value: .array([members[type].value, .string("null")]))
            return .object(members)
        }
        guard members.contains(where: { $0.name == "$ref" }) else { return self }
        let choices: JSONValue = .array([
            .object(members.filter { $0.name == "$ref" }), .members([("type", .string("null"))]),
        ])
        return .object([Member(name: "anyOf", value: choices)] + members.filter { $0.name != "$ref" })
    }
}
