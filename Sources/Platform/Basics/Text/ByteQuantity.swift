/// Reads numbers of bytes in the form `1048576`, `1MiB`, `1.5GB`.
package enum ByteQuantity {
    private static let units: [String: Int64] = [
        "": 1, "b": 1, "kb": 1000, "mb": 1_000_000, "gb": 1_000_000_000, "tb": 1_000_000_000_000,
        "pb": 1_000_000_000_000_000, "kib": 1 << 10, "mib": 1 << 20, "gib": 1 << 30, "tib": 1 << 40, "pib": 1 << 50,
    ]
    /// The number of significant digits after the decimal point.
    private static let fractionDigits = 6

    /// Returns the number, below the largest integer; a fraction of a byte is cut off. `nil` for any other text.
    package static func bytes(_ text: String) -> Int64? {
        let digits = text.prefix { $0.isASCII && ($0.isNumber || $0 == ".") }
        guard let unit = units[text[digits.endIndex...].lowercased()] else { return nil }
        let parts = digits.split(separator: ".", omittingEmptySubsequences: false)
        guard parts.count <= 2, let whole = number(parts[0]) else { return nil }
        let (product, overflow) = whole.multipliedReportingOverflow(by: unit)
        var rest: Int64 = 0
        if parts.count == 2 {
            guard unit > 1, let fraction = number(parts[1]), parts[1].utf8.count <= fractionDigits else {
                return nil
            }
            let scale = (0..<parts[1].utf8.count).reduce(Int64(1)) { scale, _ in scale * 10 }
            rest = scale.dividingFullWidth(unit.multipliedFullWidth(by: fraction)).quotient
        }
        let (sum, isTooLarge) = product.addingReportingOverflow(rest)
        return overflow || isTooLarge || sum == .max ? nil : sum
    }

    private static func number(_ text: Substring) -> Int64? {
        guard let number = Int64(decimal: text), number < .max else { return nil }
        return number
    }
}

/// A number of bytes as text in binary units, with three digits, or four up to 1023: `1.50 GiB`.
package enum ByteCount {
    package static func text(_ bytes: Int64) -> String { text(Double(bytes)) }

    package static func text(_ bytes: Double) -> String {
        let units = ["B", "KiB", "MiB", "GiB", "TiB", "PiB"]
        var value = max(0, bytes)
        var index = 0
        // 1023.5 would be shown as 1024.
        while value >= 1023.5, index < units.count - 1 {
            value /= 1024
            index += 1
        }
        guard index > 0 else { return "\(Int64(value)) B" }
        return "\(rounded(value, places: value < 9.995 ? 2 : value < 99.95 ? 1 : 0)) \(units[index])"
    }

    private static func rounded(_ value: Double, places: Int) -> String {
        let scale: Int64 = places == 2 ? 100 : places == 1 ? 10 : 1
        let whole = Int64((value * Double(scale)).rounded())
        guard places > 0 else { return "\(whole)" }
        let fraction = String(whole % scale)
        return "\(whole / scale)." + String(repeating: "0", count: places - fraction.count) + fraction
    }
}
