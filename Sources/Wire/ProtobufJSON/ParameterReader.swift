import Basics
import JSON
package import Protobuf

/// Reads field values from texts in the path or the query of a URL, or in a form.
///
/// The texts have the form of the JSON mapping without quotation marks; enums are given by name or number.
public struct ParameterReader: Sendable {
    private let schema: Schema

    public init(_ schema: Schema) {
        self.schema = schema
    }

    /// Whether a text can be a value of the field: not for maps, nor for messages whose JSON is an object.
    public func accepts(_ field: FieldSchema) -> Bool {
        if field.isMap { return false }
        guard field.kind == .message else { return field.kind != .group }
        guard let type = WellKnownType(rawValue: field.typeName) else { return false }
        return switch type {
        case .any, .structure, .value, .list: false
        default: true
        }
    }

    /// Returns the value of a text, for a field that ``accepts(_:)`` permits.
    ///
    /// - Returns: `nil` if the text is not a value of the field.
    package func value(_ text: [UInt8], of field: FieldSchema) -> WireValue? {
        value(text, field.kind, field.typeName)
    }

    private func value(_ text: [UInt8], _ kind: FieldSchema.Kind, _ typeName: String) -> WireValue? {
        switch kind {
        case .string: return String(validating: text, as: UTF8.self) == nil ? nil : .delimited(text)
        case .bytes: return Base64.decodeAny(text).map { .delimited($0) }
        case .bool:
            if text.elementsEqual("true".utf8) { return .varint(1) }
            return text.elementsEqual("false".utf8) ? .varint(0) : nil
        case .enum:
            guard let text = String(validating: text, as: UTF8.self) else { return nil }
            if let number = schema.enums[typeName]?.number(of: text) {
                return .varint(UInt64(bitPattern: Int64(number)))
            }
            return JSONNumber.wireValue(text[...], .int32)
        case .message: return message(text, typeName)
        default: return String(validating: text, as: UTF8.self).flatMap { JSONNumber.wireValue($0[...], kind) }
        }
    }

    private func message(_ text: [UInt8], _ typeName: String) -> WireValue? {
        guard let type = WellKnownType(rawValue: typeName), let string = String(validating: text, as: UTF8.self) else {
            return nil
        }
        if let wrapped = type.wrapped {
            guard let value = value(text, wrapped, "") else { return nil }
            var message: [UInt8] = []
            if !value.isInitial { message.append(field: 1 << 3 | wrapped.wireType, value) }
            return .delimited(message)
        }
        var quoted: [UInt8] = []
        JSONText.quote(string, to: &quoted)
        var reader = JSONMessageReader(quoted, schema: schema, ignoresUnknownFields: false)
        do throws(JSONError) {
            return .delimited(try reader.document(of: typeName))
        } catch {
            return nil
        }
    }
}

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
