import JSON
import Protobuf

/// Conversion of numbers between JSON's text and the encoded form.
extension JSONNumber {
    /// - Parameter text: a JSON number, or the contents of a string in place of one.
    /// - Returns: `nil` if it is not a number or the type cannot hold it.
    static func wireValue(_ text: Substring, _ kind: FieldSchema.Kind) -> WireValue? {
        switch kind {
        case .int32, .enum: integer(text, Int32.self).map { .varint(UInt64(bitPattern: Int64($0))) }
        case .int64: integer(text, Int64.self).map { .varint(UInt64(bitPattern: $0)) }
        case .uint32: integer(text, UInt32.self).map { .varint(UInt64($0)) }
        case .uint64: integer(text, UInt64.self).map { .varint($0) }
        case .sint32: integer(text, Int32.self).map { .varint(ProtoSInt32.bits($0)) }
        case .sint64: integer(text, Int64.self).map { .varint(ProtoSInt64.bits($0)) }
        case .fixed32: integer(text, UInt32.self).map { .fixed32($0) }
        case .fixed64: integer(text, UInt64.self).map { .fixed64($0) }
        case .sfixed32: integer(text, Int32.self).map { .fixed32(UInt32(bitPattern: $0)) }
        case .sfixed64: integer(text, Int64.self).map { .fixed64(UInt64(bitPattern: $0)) }
        case .float: decimal(text, Float.self).map { .fixed32($0.bitPattern) }
        case .double: decimal(text, Double.self).map { .fixed64($0.bitPattern) }
        default: nil
        }
    }

    /// A number, or a word of the JSON mapping for what JSON has no number for.
    private static func decimal<Number: BinaryFloatingPoint & LosslessStringConvertible>(
        _ text: Substring, _ type: Number.Type
    ) -> Number? {
        switch text {
        case "NaN": .nan
        case "Infinity": .infinity
        case "-Infinity": -.infinity
        default: floating(text, type)
        }
    }

    static func integerText(_ value: WireValue, _ kind: FieldSchema.Kind) -> String {
        switch (value, kind) {
        case (.varint(let bits), .sint32): "\(ProtoSInt32.value(bits))"
        case (.varint(let bits), .sint64): "\(ProtoSInt64.value(bits))"
        case (.varint(let bits), .uint32): "\(UInt32(truncatingIfNeeded: bits))"
        case (.varint(let bits), .uint64): "\(bits)"
        case (.varint(let bits), .int64): "\(Int64(bitPattern: bits))"
        case (.varint(let bits), _): "\(Int32(truncatingIfNeeded: bits))"
        case (.fixed64(let bits), .sfixed64): "\(Int64(bitPattern: bits))"
        case (.fixed64(let bits), _): "\(bits)"
        case (.fixed32(let bits), .sfixed32): "\(Int32(bitPattern: bits))"
        case (.fixed32(let bits), _): "\(bits)"
        case (.delimited, _): "0"
        }
    }

    /// Returns the shortest text that converts back to the same number; NaN and infinities are quoted.
    static func text<Number: BinaryFloatingPoint & LosslessStringConvertible>(_ value: Number) -> String {
        if value.isNaN { return "\"NaN\"" }
        if value.isInfinite { return value < 0 ? "\"-Infinity\"" : "\"Infinity\"" }
        let text = value.description
        return text.hasSuffix(".0") ? String(text.dropLast(2)) : text
    }
}
