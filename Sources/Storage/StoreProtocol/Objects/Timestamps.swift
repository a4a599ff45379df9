package import Basics

/// The time formats of the protocols, all in UTC.
package enum Timestamps {
    /// Returns e.g. `Sun, 06 Nov 1994 08:49:37 GMT`, the preferred form of RFC 9110, section 5.6.7.
    package static func http(_ time: UnixTime) -> String {
        let civil = CivilTime(time)
        var text = weekdays[civil.weekdayFromThursday]
        text.reserveCapacity(29)
        text += ", "
        text += pairs[civil.day]
        text += " "
        text += months[civil.month - 1]
        text += " "
        text += civil.year.padded(to: 4)
        text += " "
        text += pairs[civil.hour]
        text += ":"
        text += pairs[civil.minute]
        text += ":"
        text += pairs[civil.second]
        text += " GMT"
        return text
    }

    /// The numbers of two digits.
    private static let pairs = (0..<100).map { $0.padded(to: 2) }
    private static let weekdays = ["Thu", "Fri", "Sat", "Sun", "Mon", "Tue", "Wed"]

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
        guard let year = number(bytes[0..<4], digits: 4), let month = number(bytes[4..<6], digits: 2),
            let day = number(bytes[6..<8], digits: 2), let hour = number(bytes[9..<11], digits: 2),
            let minute = number(bytes[11..<13], digits: 2), let second = number(bytes[13..<15], digits: 2)
        else { return nil }
        return CivilTime(year: year, month: month, day: day, hour: hour, minute: minute, second: second)?.unix
    }

    static let months = [
        "Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec",
    ]

    /// Returns the number of at most 18 digits.
    private static func number(_ text: ArraySlice<UInt8>, digits: Int) -> Int? {
        guard text.count == digits, digits > 0 else { return nil }
        var number = 0
        for digit in text {
            guard digit.isASCIIDigit else { return nil }
            number = number * 10 + Int(digit - UInt8(ascii: "0"))
        }
        return number
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
        let bytes = Array(text.utf8)
        guard bytes.count <= longestHTTP else { return nil }
        let words = bytes.split(separator: UInt8(ascii: " "))
        switch words.count {
        case 6: return preferred(words)
        case 4: return ofRFC850(words, now: now)
        case 5: return bytes.count == 24 ? ofC(words) : nil
        default: return nil
        }
    }

    /// The length of `Wednesday, 06-Nov-94 08:49:37 GMT`.
    private static let longestHTTP = 33

    private static let comma = UInt8(ascii: ",")
    private static let gmt = Array("GMT".utf8)[...]

    private static func preferred(_ words: [ArraySlice<UInt8>]) -> UnixTime? {
        guard words[0].count == 4, words[0].last == comma, words[5] == gmt, let day = number(words[1], digits: 2),
            let month = month(words[2]), let year = number(words[3], digits: 4)
        else { return nil }
        return time(year, month, day, words[4])
    }

    /// Parses the form of RFC 850, whose year has two digits: the latest one that is at most 50 years in the future.
    private static func ofRFC850(_ words: [ArraySlice<UInt8>], now: UnixTime) -> UnixTime? {
        let date = words[1].split(separator: UInt8(ascii: "-"), omittingEmptySubsequences: false)
        guard words[0].last == comma, words[3] == gmt, date.count == 3, let day = number(date[0], digits: 2),
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
    private static func ofC(_ words: [ArraySlice<UInt8>]) -> UnixTime? {
        guard words[0].count == 3, let month = month(words[1]),
            let day = number(words[2], digits: words[2].count), let year = number(words[4], digits: 4)
        else { return nil }
        return time(year, month, day, words[3])
    }

    private static func time(_ year: Int, _ month: Int, _ day: Int, _ clock: ArraySlice<UInt8>) -> UnixTime? {
        let parts = clock.split(separator: UInt8(ascii: ":"), omittingEmptySubsequences: false)
        guard parts.count == 3, let hour = number(parts[0], digits: 2), let minute = number(parts[1], digits: 2),
            let second = number(parts[2], digits: 2)
        else { return nil }
        return CivilTime(year: year, month: month, day: day, hour: hour, minute: minute, second: second)?.unix
    }

    private static func month(_ name: ArraySlice<UInt8>) -> Int? {
        let found = String(decoding: name, as: UTF8.self)
        return months.firstIndex(of: found).map { $0 + 1 }
    }
}
