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
