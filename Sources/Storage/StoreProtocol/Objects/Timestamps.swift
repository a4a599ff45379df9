package import Basics

/// The time formats of the protocols, all in UTC.
package enum Timestamps {
    /// Returns e.g. `Sun, 06 Nov 1994 08:49:37 GMT`, the preferred form of RFC 9110, section 5.6.7.
    package static func http(_ time: UnixTime) -> String {
        let civil = CivilTime(time)
        let weekday = ["Thu", "Fri", "Sat", "Sun", "Mon", "Tue", "Wed"][civil.weekdayFromThursday]
        let date = "\(civil.day.padded(to: 2)) \(months[civil.month - 1]) \(civil.year.padded(to: 4))"
        return "\(weekday), \(date) \(civil.clock()) GMT"
    }

    /// Returns e.g. `2013-05-24T00:00:00.000Z`; the fraction is always included, because clients need it.
    package static func xml(_ time: UnixTime) -> String {
        let civil = CivilTime(time)
        return "\(civil.date())T\(civil.clock()).000Z"
    }

    /// Returns e.g. `20130524T000000Z`, the form in signatures.
    package static func basic(_ time: UnixTime) -> String {
        let civil = CivilTime(time)
        return "\(civil.date(separator: ""))T\(civil.clock(separator: ""))Z"
    }

    static func parseBasic(_ text: String) -> UnixTime? {
        let bytes = Array(text.utf8)
        guard bytes.count == 16, bytes[8] == UInt8(ascii: "T"), bytes[15] == UInt8(ascii: "Z") else { return nil }
        let field = { (range: Range<Int>) in
            number(Substring(decoding: bytes[range], as: UTF8.self), digits: range.count)
        }
        guard let year = field(0..<4), let month = field(4..<6), let day = field(6..<8), let hour = field(9..<11),
            let minute = field(11..<13), let second = field(13..<15)
        else { return nil }
        return CivilTime(year: year, month: month, day: day, hour: hour, minute: minute, second: second)?.unix
    }

    static let months = [
        "Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec",
    ]

    static func number(_ text: Substring, digits: Int) -> Int? {
        text.utf8.count == digits ? Int(decimal: text) : nil
    }
}

/// The parser of times in HTTP fields (RFC 9110, section 5.6.7): the preferred form, and the two obsolete ones that a recipient must
/// accept as well. The day of the week is not compared with the date.
extension Timestamps {
    /// Parses e.g. `Sun, 06 Nov 1994 08:49:37 GMT`, `Sunday, 06-Nov-94 08:49:37 GMT` or `Sun Nov  6 08:49:37 1994`.
    ///
    /// - Parameter now: the present, to which the two digits of a year in the second form are close.
    /// - Returns: `nil` for any other text.
    package static func parseHTTP(_ text: String, now: UnixTime = SystemClock().now()) -> UnixTime? {
        guard text.utf8.count <= longestHTTP else { return nil }
        let words = text.split(separator: " ")
        switch words.count {
        case 6: return preferred(words)
        case 4: return ofRFC850(words, now: now)
        case 5: return ofC(words, text)
        default: return nil
        }
    }

    /// The length of `Wednesday, 06-Nov-94 08:49:37 GMT`.
    private static let longestHTTP = 33

    private static func preferred(_ words: [Substring]) -> UnixTime? {
        guard words[0].count == 4, words[0].last == ",", words[5] == "GMT", let day = number(words[1], digits: 2),
            let month = month(words[2]), let year = number(words[3], digits: 4)
        else { return nil }
        return time(year, month, day, words[4])
    }

    /// Parses the form of RFC 850, whose year has two digits: the latest one that is at most 50 years in the future.
    private static func ofRFC850(_ words: [Substring], now: UnixTime) -> UnixTime? {
        let date = words[1].split(separator: "-", omittingEmptySubsequences: false)
        guard words[0].last == ",", words[3] == "GMT", date.count == 3, let day = number(date[0], digits: 2),
            let month = month(date[1]), let year = number(date[2], digits: 2)
        else { return nil }
        let limit = now.adding(seconds: 50 * secondsOfAYear)
        let century = CivilTime(now).year / 100 * 100
        for start in [century + 100, century, century - 100] {
            if let found = time(start + year, month, day, words[2]), found <= limit { return found }
        }
        return nil
    }

    /// The mean of the Gregorian calendar.
    private static let secondsOfAYear: Int64 = 31_556_952

    /// Parses the form of C's `asctime`, whose day is padded by a blank.
    private static func ofC(_ words: [Substring], _ text: String) -> UnixTime? {
        guard text.utf8.count == 24, words[0].count == 3, let month = month(words[1]),
            let day = number(words[2], digits: words[2].utf8.count), let year = number(words[4], digits: 4)
        else { return nil }
        return time(year, month, day, words[3])
    }

    private static func time(_ year: Int, _ month: Int, _ day: Int, _ clock: Substring) -> UnixTime? {
        let parts = clock.split(separator: ":", omittingEmptySubsequences: false)
        guard parts.count == 3, let hour = number(parts[0], digits: 2), let minute = number(parts[1], digits: 2),
            let second = number(parts[2], digits: 2)
        else { return nil }
        return CivilTime(year: year, month: month, day: day, hour: hour, minute: minute, second: second)?.unix
    }

    private static func month(_ name: Substring) -> Int? { months.firstIndex(of: String(name)).map { $0 + 1 } }
}
