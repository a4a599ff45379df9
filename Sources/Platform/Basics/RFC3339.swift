/// A time as RFC 3339, section 5.6, writes it: `2026-01-31T08:00:00Z`, `2026-01-31T16:00:00.25+08:00`.
package struct RFC3339: Sendable, Hashable {
    /// The second that the time is in.
    package let second: UnixTime
    package let hasFraction: Bool

    /// The first whole second that is not before the time.
    package var roundedUp: UnixTime { hasFraction ? nextSecond : second }

    package var nextSecond: UnixTime { second.adding(seconds: 1) }

    /// `nil` for anything else, and for a leap second, which Unix time does not count.
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
        if rest.first == UInt8(ascii: ".") {
            let digits = rest.dropFirst().prefix { isDigit($0) }
            guard !digits.isEmpty else { return nil }
            hasFraction = digits.contains { $0 != UInt8(ascii: "0") }
            rest = rest.dropFirst(1 + digits.count)
        }
        guard let offset = offset(rest) else { return nil }
        return RFC3339(second: civil.unix.adding(seconds: -offset), hasFraction: hasFraction)
    }

    /// In seconds east of UTC.
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

    private static func isDigit(_ byte: UInt8) -> Bool {
        (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(byte)
    }

    private static func number(_ digits: ArraySlice<UInt8>) -> Int? {
        digits.allSatisfy(isDigit) ? digits.reduce(0) { $0 * 10 + Int($1 - UInt8(ascii: "0")) } : nil
    }
}
