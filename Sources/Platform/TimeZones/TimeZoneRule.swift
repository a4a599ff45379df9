import Basics

/// The rule for the future of a zone: the text of POSIX's variable TZ with the extensions of RFC 8536, section 3.3.1, for example
/// `NZST-12NZDT,M9.5.0,M4.1.0/3`.
struct TimeZoneRule: Sendable, Hashable {
    /// A day of each year on which the offset changes.
    enum Day: Sendable, Hashable {
        /// The day of the year from 1 to 365 that never is February 29th.
        case julian(Int)
        /// The day of the year from 0 to 365.
        case ofYear(Int)
        /// A weekday from 0 = Sunday in a week from 1 to 5 = the last one of a month.
        case weekday(month: Int, week: Int, weekday: Int)
    }

    struct Date: Sendable, Hashable {
        let day: Day
        /// Seconds since midnight, -167 to 167 hours.
        let time: Int64
    }

    struct Summer: Sendable, Hashable {
        let offset: Int64
        let start: Date
        let end: Date
    }

    /// Seconds east of UTC.
    let offset: Int64
    let summer: Summer?

    /// Parses a rule; `nil` for any other text.
    init?(_ text: String) {
        var scanner = Scanner(rest: Array(text.utf8)[...])
        guard scanner.name(), let west = scanner.time(hours: 24) else { return nil }
        offset = -west
        if scanner.rest.isEmpty {
            summer = nil
            return
        }
        guard scanner.name() else { return nil }
        var summerOffset = offset + 3600
        if scanner.rest.first != UInt8(ascii: ",") {
            guard let west = scanner.time(hours: 24) else { return nil }
            summerOffset = -west
        }
        guard let start = scanner.date(), let end = scanner.date(), scanner.rest.isEmpty else { return nil }
        summer = Summer(offset: summerOffset, start: start, end: end)
    }

    /// Returns the changes of some years, in their order.
    func changes(in years: ClosedRange<Int>) -> [TimeZoneRules.Change] {
        guard let summer else {
            return [TimeZoneRules.Change(at: Self.midnight(years.lowerBound, 1, 1), offset: offset)]
        }
        return years.flatMap { year in
            [
                TimeZoneRules.Change(at: Self.seconds(of: summer.start, in: year) - offset, offset: summer.offset),
                TimeZoneRules.Change(at: Self.seconds(of: summer.end, in: year) - summer.offset, offset: offset),
            ]
        }.sorted { $0.at < $1.at }
    }

    /// Returns the seconds since 1970 at a date, without an offset.
    private static func seconds(of date: Date, in year: Int) -> Int64 {
        let day =
            switch date.day {
            case .julian(let day):
                // Day 60 is March 1st in every year.
                day < 60
                    ? midnight(year, 1, 1) + Int64(day - 1) * 86_400 : midnight(year, 3, 1) + Int64(day - 60) * 86_400
            case .ofYear(let day): midnight(year, 1, 1) + Int64(day) * 86_400
            case .weekday(let month, let week, let weekday): self.weekday(weekday, week: week, month: month, year: year)
            }
        return day + date.time
    }

    private static func weekday(_ weekday: Int, week: Int, month: Int, year: Int) -> Int64 {
        let first = midnight(year, month, 1)
        let next = month == 12 ? midnight(year + 1, 1, 1) : midnight(year, month + 1, 1)
        // 1970-01-01 was a Thursday.
        let firstWeekday = (first / 86_400 + 4) % 7
        var day = first + (Int64(weekday) - firstWeekday + 7) % 7 * 86_400 + Int64(week - 1) * 7 * 86_400
        while day >= next { day -= 7 * 86_400 }
        return day
    }

    private static func midnight(_ year: Int, _ month: Int, _ day: Int) -> Int64 {
        CivilTime(year: year, month: month, day: day, hour: 0, minute: 0, second: 0)?.unix.seconds ?? 0
    }
}

extension TimeZoneRule {
    private struct Scanner {
        var rest: ArraySlice<UInt8>

        mutating func skip(_ character: Unicode.Scalar) -> Bool {
            guard rest.first == UInt8(ascii: character) else { return false }
            rest.removeFirst()
            return true
        }

        /// Skips the abbreviation of a time: at least three letters, or in angle brackets also digits and signs.
        mutating func name() -> Bool {
            let isQuoted = skip("<")
            let name = rest.prefix { $0.isASCIILetter || isQuoted && ($0.isASCIIDigit || "+-".utf8.contains($0)) }
            rest.removeFirst(name.count)
            return name.count >= 3 && (!isQuoted || skip(">"))
        }

        /// Reads a number of at most three digits.
        mutating func number(_ range: ClosedRange<Int>) -> Int? {
            let digits = rest.prefix(3).prefix(while: \.isASCIIDigit)
            guard let number = Int(decimal: String(decoding: digits, as: UTF8.self)), range.contains(number) else {
                return nil
            }
            rest.removeFirst(digits.count)
            return number
        }

        /// Reads `[+|-]hh[:mm[:ss]]` in seconds.
        mutating func time(hours: Int) -> Int64? {
            let isNegative = skip("-")
            if !isNegative { _ = skip("+") }
            guard var seconds = number(0...hours).map({ $0 * 3600 }) else { return nil }
            for unit in [60, 1] where skip(":") {
                guard let part = number(0...59) else { return nil }
                seconds += part * unit
            }
            return Int64(isNegative ? -seconds : seconds)
        }

        mutating func date() -> Date? {
            guard skip(","), let day = day() else { return nil }
            guard skip("/") else { return Date(day: day, time: 7200) }
            return time(hours: 167).map { Date(day: day, time: $0) }
        }

        private mutating func day() -> Day? {
            if skip("J") { return number(1...365).map { .julian($0) } }
            guard skip("M") else { return number(0...365).map { .ofYear($0) } }
            guard let month = number(1...12), skip("."), let week = number(1...5), skip("."),
                let weekday = number(0...6)
            else { return nil }
            return .weekday(month: month, week: week, weekday: weekday)
        }
    }
}
