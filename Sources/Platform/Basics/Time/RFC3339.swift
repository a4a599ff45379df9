/// A time in the format of RFC 3339, section 5.6: `2026-01-31T08:00:00Z`, `2026-01-31T16:00:00.25+08:00`.
package struct RFC3339: Sendable, Hashable {
    /// The time, rounded down to the second.
    package let second: UnixTime
    package let hasFraction: Bool
    /// The fraction in nanoseconds, 0 to 999,999,999; finer digits are cut off.
    package let nanoseconds: Int32

    /// Returns e.g. `2026-01-31T08:00:00Z`, with a fraction of 3, 6 or 9 digits if it is not 0.
    package static func text(_ second: UnixTime, nanoseconds: Int32 = 0) -> String {
        let civil = CivilTime(second)
        return "\(civil.date())T\(civil.clock())\(fraction(nanoseconds))Z"
    }

    /// Returns e.g. `2026-01-31T08:00:00.000Z`: always three digits of the second, which some parsers require.
    package static func milliseconds(_ time: UnixTime) -> String {
        let digits = (time.microseconds - time.seconds * 1_000_000) / 1000
        let civil = CivilTime(time)
        return "\(civil.date())T\(civil.clock()).\(digits.padded(to: 3))Z"
    }

    /// Returns an empty text for 0, else a decimal point and 3, 6 or 9 digits.
    package static func fraction(_ nanoseconds: Int32) -> String {
        if nanoseconds == 0 { return "" }
        let digits = nanoseconds.magnitude.padded(to: 9)
        if nanoseconds % 1_000_000 == 0 { return "." + digits.prefix(3) }
        return "." + (nanoseconds % 1000 == 0 ? digits.prefix(6) : digits[...])
    }

    /// The first whole second that is not before the time.
    package var roundedUp: UnixTime { hasFraction ? nextSecond : second }

    /// The time to the microsecond.
    package var time: UnixTime { UnixTime(microseconds: second.microseconds + Int64(nanoseconds / 1000)) }

    package var nextSecond: UnixTime { second.adding(seconds: 1) }

    /// Parses a time; `nil` for anything else and for a leap second, which Unix time does not count.
    package static func parse(_ text: String) -> RFC3339? {
        let bytes = Array(text.utf8)
        guard bytes.count >= 20, bytes[4] == UInt8(ascii: "-"), bytes[7] == UInt8(ascii: "-"),
            bytes[10] | 0x20 == UInt8(ascii: "t"), bytes[13] == UInt8(ascii: ":"), bytes[16] == UInt8(ascii: ":"),
            let year = number(bytes[0..<4]), let month = number(bytes[5..<7]), let day = number(bytes[8..<10]),
            let hour = number(bytes[11..<13]), let minute = number(bytes[14..<16]),
            let second = number(bytes[17..<19]),
            let civil = CivilTime(
                year: year, month: month, day: day, hour: hour, minute: minute, second: second)
        else { return nil }
        var rest = bytes[19...]
        var hasFraction = false
        var nanoseconds: Int32 = 0
        if rest.first == UInt8(ascii: ".") {
            let digits = rest.dropFirst().prefix { $0.isASCIIDigit }
            guard !digits.isEmpty else { return nil }
            hasFraction = digits.contains { $0 != UInt8(ascii: "0") }
            let nine = digits.prefix(9) + repeatElement(UInt8(ascii: "0"), count: max(0, 9 - digits.count))
            nanoseconds = nine.reduce(0) { $0 * 10 + Int32($1 - UInt8(ascii: "0")) }
            rest = rest.dropFirst(1 + digits.count)
        }
        guard let offset = offset(rest) else { return nil }
        return RFC3339(
            second: civil.unix.adding(seconds: -offset), hasFraction: hasFraction, nanoseconds: nanoseconds)
    }

    /// Returns the offset in seconds east of UTC.
    private static func offset(_ bytes: ArraySlice<UInt8>) -> Int64? {
        guard let sign = bytes.first else { return nil }
        let digits = bytes.dropFirst()
        switch sign {
        case UInt8(ascii: "Z"), UInt8(ascii: "z"): return digits.isEmpty ? 0 : nil
        case UInt8(ascii: "+"), UInt8(ascii: "-"):
            guard digits.count == 5, digits.dropFirst(2).first == UInt8(ascii: ":"),
                let hours = number(digits.prefix(2)), let minutes = number(digits.suffix(2)), hours < 24, minutes < 60
            else { return nil }
            let offset = Int64(hours * 3600 + minutes * 60)
            return sign == UInt8(ascii: "-") ? -offset : offset
        default: return nil
        }
    }

    private static func number(_ digits: ArraySlice<UInt8>) -> Int? {
        digits.allSatisfy({ $0.isASCIIDigit }) ? digits.reduce(0) { $0 * 10 + Int($1 - UInt8(ascii: "0")) } : nil
    }
}
