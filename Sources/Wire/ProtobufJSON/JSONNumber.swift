import Protobuf

/// Conversion of numbers between JSON's text and the encoded form.
enum JSONNumber {
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
        case .float: floating(text, Float.self).map { .fixed32($0.bitPattern) }
        case .double: floating(text, Double.self).map { .fixed64($0.bitPattern) }
        default: nil
        }
    }

    private static func integer<Integer: FixedWidthInteger>(_ text: Substring, _: Integer.Type) -> Integer? {
        guard isNumber(text) else { return nil }
        return Integer(text) ?? plainInteger(text).flatMap { Integer($0) }
    }

    /// Returns the exact digits of an integer such as `1.0`, `1e5` or `120e-1`; `nil` if a fraction remains.
    private static func plainInteger(_ number: Substring) -> String? {
        let parts = number.split(maxSplits: 1) { $0 == "e" || $0 == "E" }
        let mantissa = (parts.first ?? "").split(separator: ".", maxSplits: 1)
        let isNegative = number.hasPrefix("-")
        let fraction = mantissa.count > 1 ? mantissa[1] : ""
        var digits = ((mantissa.first ?? "") + fraction).drop { $0 == "-" || $0 == "0" }
        if digits.isEmpty { return "0" }
        guard let written = parts.count > 1 ? Int(parts[1]) : 0, written.magnitude < 1 << 32 else { return nil }
        var exponent = written - fraction.count
        while exponent < 0, digits.last == "0" {
            digits.removeLast()
            exponent += 1
        }
        // No integer type has more than 20 digits.
        guard exponent >= 0, digits.count + exponent <= 20 else { return nil }
        return (isNegative ? "-" : "") + digits + String(repeating: "0", count: exponent)
    }

    private static func floating<Number: BinaryFloatingPoint & LosslessStringConvertible>(
        _ text: Substring, _: Number.Type
    ) -> Number? {
        switch text {
        case "NaN": return .nan
        case "Infinity": return .infinity
        case "-Infinity": return -.infinity
        default:
            guard isNumber(text), let value = Number(String(text)), value.isFinite else { return nil }
            return value
        }
    }

    /// Whether the text is a JSON number. Swift's own initializers accept more, such as `0x1p4` and `+1`.
    private static func isNumber(_ text: Substring) -> Bool {
        // The scanner skips white space, which is not allowed here.
        guard let first = text.utf8.first, first > 0x20 else { return false }
        var scanner = JSONScanner([UInt8](text.utf8))
        do throws(JSONError) {
            return try scanner.number().utf8.count == text.utf8.count
        } catch {
            return false
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
