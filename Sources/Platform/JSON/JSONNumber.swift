import Basics

/// Conversion between numbers and their text in JSON.
package enum JSONNumber {
    /// Returns the whole number of a text such as `1`, `1.0` or `1e5`; `nil` if it is no JSON number, or the type cannot hold it.
    package static func integer<Integer: FixedWidthInteger>(_ text: Substring, _: Integer.Type) -> Integer? {
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

    /// - Returns: `nil` if the text is no JSON number, or the type cannot hold it.
    package static func floating<Number: BinaryFloatingPoint & LosslessStringConvertible>(
        _ text: Substring, _: Number.Type
    ) -> Number? {
        guard isNumber(text), let value = Number(String(text)), value.isFinite else { return nil }
        return value
    }

    /// Whether the text is a JSON number. Swift's own initializers accept more, such as `0x1p4` and `+1`.
    package static func isNumber(_ text: Substring) -> Bool {
        // The scanner skips white space, which is not allowed here.
        guard let first = text.utf8.first, first > 0x20 else { return false }
        var scanner = JSONScanner([UInt8](text.utf8))
        do throws(JSONError) {
            return try scanner.number().utf8.count == text.utf8.count
        } catch {
            return false
        }
    }
}
