/// The text of Timestamp (RFC 3339) and Duration (decimal seconds).
enum TimeText {
    /// 0001-01-01T00:00:00Z to 9999-12-31T23:59:59Z.
    static let timestampSeconds: ClosedRange<Int64> = -62_135_596_800...253_402_300_799
    /// About 10,000 years either way.
    static let durationSeconds: ClosedRange<Int64> = -315_576_000_000...315_576_000_000

    static func timestamp(seconds: Int64, nanos: Int32) -> String? {
        guard timestampSeconds ~= seconds, 0...999_999_999 ~= nanos else { return nil }
        var days = seconds / 86400
        var rest = seconds % 86400
        if rest < 0 {
            days -= 1
            rest += 86400
        }
        let date = civil(days: days)
        return padded(date.year, 4) + "-" + padded(date.month, 2) + "-" + padded(date.day, 2) + "T"
            + padded(rest / 3600, 2) + ":" + padded(rest / 60 % 60, 2) + ":" + padded(rest % 60, 2)
            + fraction(nanos) + "Z"
    }

    static func duration(seconds: Int64, nanos: Int32) -> String? {
        guard durationSeconds ~= seconds, -999_999_999...999_999_999 ~= nanos else { return nil }
        if seconds > 0 && nanos < 0 || seconds < 0 && nanos > 0 { return nil }
        return (seconds < 0 || nanos < 0 ? "-" : "") + "\(seconds.magnitude)" + fraction(nanos) + "s"
    }

    static func parseTimestamp(_ text: String) -> (seconds: Int64, nanos: Int32)? {
        var text = text.utf8[...]
        guard let year = digits(4, of: &text), take("-", of: &text), let month = digits(2, of: &text),
            take("-", of: &text), let day = digits(2, of: &text), take("T", of: &text),
            let hour = digits(2, of: &text), take(":", of: &text), let minute = digits(2, of: &text),
            take(":", of: &text), let second = digits(2, of: &text), let nanos = parseFraction(&text)
        else { return nil }
        guard 1...12 ~= month, 1...31 ~= day, hour < 24, minute < 60, second < 60 else { return nil }
        let days = self.days(year: year, month: month, day: day)
        guard civil(days: days) == (year, month, day) else { return nil }
        var seconds = days * 86400 + hour * 3600 + minute * 60 + second
        if !take("Z", of: &text) {
            let isEast = take("+", of: &text)
            guard isEast || take("-", of: &text), let hours = digits(2, of: &text), take(":", of: &text),
                let minutes = digits(2, of: &text), hours < 24, minutes < 60
            else { return nil }
            seconds += (isEast ? -1 : 1) * (hours * 3600 + minutes * 60)
        }
        guard text.isEmpty, timestampSeconds ~= seconds else { return nil }
        return (seconds, nanos)
    }

    static func parseDuration(_ text: String) -> (seconds: Int64, nanos: Int32)? {
        var text = text.utf8[...]
        let isNegative = take("-", of: &text)
        let whole = text.prefix { UInt8(ascii: "0")...UInt8(ascii: "9") ~= $0 }
        guard let seconds = Int64(Substring(whole)) else { return nil }
        text = text.dropFirst(whole.count)
        guard let nanos = parseFraction(&text), take("s", of: &text), text.isEmpty else { return nil }
        guard seconds <= durationSeconds.upperBound else { return nil }
        return isNegative ? (-seconds, -nanos) : (seconds, nanos)
    }

    // MARK: Parts

    private static func padded(_ value: Int64, _ width: Int) -> String {
        let digits = String(value)
        return String(repeating: "0", count: max(0, width - digits.count)) + digits
    }

    /// Nothing, or a point and 3, 6 or 9 digits.
    private static func fraction(_ nanos: Int32) -> String {
        let digits = padded(Int64(nanos.magnitude), 9)
        if nanos == 0 { return "" }
        if nanos % 1_000_000 == 0 { return "." + digits.prefix(3) }
        return "." + (nanos % 1000 == 0 ? digits.prefix(6) : digits[...])
    }

    private static func parseFraction(_ text: inout Substring.UTF8View) -> Int32? {
        guard take(".", of: &text) else { return 0 }
        var nanos: Int32 = 0
        var count = 0
        while let digit = text.first, UInt8(ascii: "0")...UInt8(ascii: "9") ~= digit {
            if count == 9 { return nil }
            nanos = nanos * 10 + Int32(digit - UInt8(ascii: "0"))
            count += 1
            text.removeFirst()
        }
        if count == 0 { return nil }
        for _ in count..<9 { nanos *= 10 }
        return nanos
    }

    private static func digits(_ count: Int, of text: inout Substring.UTF8View) -> Int64? {
        var value: Int64 = 0
        for _ in 0..<count {
            guard let digit = text.popFirst(), UInt8(ascii: "0")...UInt8(ascii: "9") ~= digit else { return nil }
            value = value * 10 + Int64(digit - UInt8(ascii: "0"))
        }
        return value
    }

    private static func take(_ character: Unicode.Scalar, of text: inout Substring.UTF8View) -> Bool {
        guard text.first == UInt8(ascii: character) else { return false }
        text.removeFirst()
        return true
    }

    // The proleptic Gregorian calendar in eras of 400 years that begin in March: H. Hinnant, "chrono-Compatible
    // Low-Level Date Algorithms". Years are positive here.

    private static func days(year: Int64, month: Int64, day: Int64) -> Int64 {
        let year = month <= 2 ? year - 1 : year
        let era = (year >= 0 ? year : year - 399) / 400
        let yearOfEra = year - era * 400
        let dayOfYear = (153 * (month + (month > 2 ? -3 : 9)) + 2) / 5 + day - 1
        return era * 146_097 + yearOfEra * 365 + yearOfEra / 4 - yearOfEra / 100 + dayOfYear - 719_468
    }

    private static func civil(days: Int64) -> (year: Int64, month: Int64, day: Int64) {
        let shifted = days + 719_468
        let era = (shifted >= 0 ? shifted : shifted - 146_096) / 146_097
        let dayOfEra = shifted - era * 146_097
        let yearOfEra = (dayOfEra - dayOfEra / 1460 + dayOfEra / 36524 - dayOfEra / 146_096) / 365
        let dayOfYear = dayOfEra - (365 * yearOfEra + yearOfEra / 4 - yearOfEra / 100)
        let shiftedMonth = (5 * dayOfYear + 2) / 153
        let month = shiftedMonth < 10 ? shiftedMonth + 3 : shiftedMonth - 9
        return (yearOfEra + era * 400 + (month <= 2 ? 1 : 0), month, dayOfYear - (153 * shiftedMonth + 2) / 5 + 1)
    }
}
