package import Basics

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
