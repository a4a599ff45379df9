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
