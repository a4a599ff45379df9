/// A point in time in the proleptic Gregorian calendar, UTC, to the second.
package struct CivilTime: Sendable, Hashable {
    package let year: Int
    package let month: Int
    package let day: Int
    package let hour: Int
    package let minute: Int
    package let second: Int

    /// Returns `nil` for a date or time outside the calendar, including a 61st second.
    package init?(year: Int, month: Int, day: Int, hour: Int, minute: Int, second: Int) {
        guard (1...12).contains(month), (1...Self.days(year: year, month: month)).contains(day),
            (0...23).contains(hour), (0...59).contains(minute), (0...59).contains(second)
        else { return nil }
        self.year = year
        self.month = month
        self.day = day
        self.hour = hour
        self.minute = minute
        self.second = second
    }

    /// Converts a time. The calculation counts years from March, so that the leap day is the last; an era is 400 years, 146,097
    /// days.
    package init(_ time: UnixTime) {
        let seconds = Int(time.seconds)
        let (daysSinceEpoch, secondOfDay) = Self.floor(seconds, 86_400)
        let (era, dayOfEra) = Self.floor(daysSinceEpoch + 719_468, 146_097)
        let yearOfEra = (dayOfEra - dayOfEra / 1460 + dayOfEra / 36_524 - dayOfEra / 146_096) / 365
        let dayOfYear = dayOfEra - (365 * yearOfEra + yearOfEra / 4 - yearOfEra / 100)
        let marchMonth = (5 * dayOfYear + 2) / 153
        day = dayOfYear - (153 * marchMonth + 2) / 5 + 1
        month = marchMonth < 10 ? marchMonth + 3 : marchMonth - 9
        year = yearOfEra + era * 400 + (month <= 2 ? 1 : 0)
        hour = secondOfDay / 3600
        minute = secondOfDay / 60 % 60
        second = secondOfDay % 60
    }

    package var unix: UnixTime {
        UnixTime(seconds: Int64(daysSinceEpoch * 86_400 + hour * 3600 + minute * 60 + second))
    }

    /// The days since the last Thursday, 0 to 6; 1970-01-01 was a Thursday.
    package var weekdayFromThursday: Int {
        Self.floor(daysSinceEpoch, 7).remainder
    }

    /// Returns the date as text, e.g. `2026-01-31`.
    package func date(separator: String = "-") -> String {
        [year.padded(to: 4), month.padded(to: 2), day.padded(to: 2)].joined(separator: separator)
    }

    /// Returns the time of day as text, e.g. `08:05:00`.
    package func clock(separator: String = ":") -> String {
        [hour, minute, second].map { $0.padded(to: 2) }.joined(separator: separator)
    }

    /// The time as a part of file names, which have no colons on every system, e.g. `2026-01-31T08-05-00Z`.
    package var textForFileName: String { "\(date())T\(clock(separator: "-"))Z" }

    private var daysSinceEpoch: Int {
        let marchYear = month <= 2 ? year - 1 : year
        let (era, yearOfEra) = Self.floor(marchYear, 400)
        let marchMonth = month > 2 ? month - 3 : month + 9
        let dayOfYear = (153 * marchMonth + 2) / 5 + day - 1
        return era * 146_097 + yearOfEra * 365 + yearOfEra / 4 - yearOfEra / 100 + dayOfYear - 719_468
    }

    private static func days(year: Int, month: Int) -> Int {
        switch month {
        case 2: year % 4 == 0 && (year % 100 != 0 || year % 400 == 0) ? 29 : 28
        case 4, 6, 9, 11: 30
        default: 31
        }
    }

    private static func floor(_ value: Int, _ divisor: Int) -> (quotient: Int, remainder: Int) {
        let (quotient, remainder) = value.quotientAndRemainder(dividingBy: divisor)
        return remainder < 0 ? (quotient - 1, remainder + divisor) : (quotient, remainder)
    }
}
