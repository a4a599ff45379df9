import Basics

/// The values of comparisons: sizes, times, days and ages.
enum FilterQuantity {
    private static let ageUnits: [String: Int64] = ["s": 1, "m": 60, "h": 3600, "d": 86_400, "w": 604_800]

    /// Parses a number below `Int64.max`, so that its successor is valid as well; `nil` for any other text.
    static func number(_ text: String) -> Int64? {
        guard let number = Int64(decimal: text), number < .max else { return nil }
        return number
    }

    /// Parses a time, and returns its first microsecond and the first one after it.
    ///
    /// Times are displayed in whole seconds, so a time stands for all instants of its second.
    static func time(_ text: String) -> (first: Int64, next: Int64)? {
        RFC3339.parse(text).map { ($0.roundedUp.microseconds, $0.nextSecond.microseconds) }
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
