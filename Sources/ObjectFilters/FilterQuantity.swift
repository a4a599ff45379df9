import Basics

/// The values of comparisons: sizes, times and ages.
enum FilterQuantity {
    private static let ageUnits: [String: Int64] = ["s": 1, "m": 60, "h": 3600, "d": 86_400, "w": 604_800]

    /// Parses a number below `Int64.max`, so that its successor is valid as well; `nil` for any other text.
    static func number(_ text: String) -> Int64? {
        guard let number = Int64(decimal: text), number < .max else { return nil }
        return number
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
