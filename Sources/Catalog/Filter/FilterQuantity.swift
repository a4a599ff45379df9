import Basics

/// The values of comparisons: sizes, times and ages.
enum FilterQuantity {
    private static let sizeUnits: [String: Int64] = [
        "": 1, "b": 1, "kb": 1000, "mb": 1_000_000, "gb": 1_000_000_000, "tb": 1_000_000_000_000,
        "pb": 1_000_000_000_000_000, "kib": 1 << 10, "mib": 1 << 20, "gib": 1 << 30, "tib": 1 << 40, "pib": 1 << 50,
    ]
    private static let ageUnits: [String: Int64] = ["s": 1, "m": 60, "h": 3600, "d": 86_400, "w": 604_800]
    /// The number of decimal places that are evaluated.
    private static let fractionDigits = 6

    /// Parses a number below `Int64.max`, so that its successor is valid as well; `nil` for any other text.
    static func number(_ text: String) -> Int64? {
        guard !text.isEmpty, text.utf8.allSatisfy(\.isASCIIDigit), let number = Int64(text), number < .max else {
            return nil
        }
        return number
    }

    /// Parses a size in bytes, e.g. `1048576`, `1MiB`, `1.5GB`; a fraction of a byte is cut off.
    static func size(_ text: String) -> Int64? {
        let digits = text.prefix { $0.isASCII && ($0.isNumber || $0 == ".") }
        guard let unit = sizeUnits[text[digits.endIndex...].lowercased()] else { return nil }
        let parts = digits.split(separator: ".", omittingEmptySubsequences: false)
        guard parts.count <= 2, let whole = number(String(parts[0])) else { return nil }
        let (product, overflow) = whole.multipliedReportingOverflow(by: unit)
        var rest: Int64 = 0
        if parts.count == 2 {
            guard unit > 1, let fraction = number(String(parts[1])), parts[1].utf8.count <= fractionDigits else {
                return nil
            }
            let scale = (0..<parts[1].utf8.count).reduce(Int64(1)) { scale, _ in scale * 10 }
            rest = scale.dividingFullWidth(unit.multipliedFullWidth(by: fraction)).quotient
        }
        let (sum, isTooLarge) = product.addingReportingOverflow(rest)
        return overflow || isTooLarge || sum == .max ? nil : sum
    }

    /// Parses a time or a whole day, and returns its first microsecond and the first one after it.
    ///
    /// Times are displayed in whole seconds, so a time stands for all instants of its second.
    static func time(_ text: String) -> (first: Int64, next: Int64)? {
        if let time = RFC3339.parse(text) { return (time.roundedUp.microseconds, time.nextSecond.microseconds) }
        let parts = text.split(separator: "-", omittingEmptySubsequences: false)
        guard parts.map(\.utf8.count) == [4, 2, 2], let year = number(String(parts[0])),
            let month = number(String(parts[1])), let day = number(String(parts[2])),
            let start = CivilTime(year: Int(year), month: Int(month), day: Int(day), hour: 0, minute: 0, second: 0)
        else { return nil }
        return (start.unix.microseconds, start.unix.adding(seconds: 86_400).microseconds)
    }

    /// Parses an age in seconds, e.g. `90s`, `15m`, `12h`, `7d`, `2w`.
    static func age(_ text: String) -> Int64? {
        guard let number = number(String(text.dropLast())), let unit = ageUnits[text.suffix(1).lowercased()] else {
            return nil
        }
        let (seconds, overflow) = number.multipliedReportingOverflow(by: unit)
        return overflow || seconds > 1 << 40 ? nil : seconds
    }
}
