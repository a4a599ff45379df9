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
