import Basics

/// The text formats of Timestamp (RFC 3339) and Duration (decimal seconds).
enum TimeText {
    /// 0001-01-01T00:00:00Z to 9999-12-31T23:59:59Z.
    static let timestampSeconds: ClosedRange<Int64> = -62_135_596_800...253_402_300_799
    /// About 10,000 years in either direction.
    static let durationSeconds: ClosedRange<Int64> = -315_576_000_000...315_576_000_000

    static func timestamp(seconds: Int64, nanos: Int32) -> String? {
        guard timestampSeconds ~= seconds, 0...999_999_999 ~= nanos else { return nil }
        return RFC3339.text(UnixTime(seconds: seconds), nanoseconds: nanos)
    }

    static func duration(seconds: Int64, nanos: Int32) -> String? {
        guard durationSeconds ~= seconds, -999_999_999...999_999_999 ~= nanos else { return nil }
        if seconds > 0 && nanos < 0 || seconds < 0 && nanos > 0 { return nil }
        return (seconds < 0 || nanos < 0 ? "-" : "") + "\(seconds.magnitude)" + RFC3339.fraction(nanos) + "s"
    }

    static func parseTimestamp(_ text: String) -> (seconds: Int64, nanos: Int32)? {
        // Stricter than RFC 3339: upper-case letters and at most nine digits of a fraction.
        guard !text.utf8.contains(where: { $0 == UInt8(ascii: "t") || $0 == UInt8(ascii: "z") }),
            text.utf8.drop(while: { $0 != UInt8(ascii: ".") }).dropFirst().prefix(while: { $0.isASCIIDigit }).count
                <= 9,
            let time = RFC3339.parse(text), timestampSeconds ~= time.second.seconds
        else { return nil }
        return (time.second.seconds, time.nanoseconds)
    }

    static func parseDuration(_ text: String) -> (seconds: Int64, nanos: Int32)? {
        var text = text.utf8[...]
        let isNegative = take("-", of: &text)
        let whole = text.prefix(while: { $0.isASCIIDigit })
        guard let seconds = Int64(Substring(whole)) else { return nil }
        text = text.dropFirst(whole.count)
        guard let nanos = parseFraction(&text), take("s", of: &text), text.isEmpty else { return nil }
        guard seconds <= durationSeconds.upperBound else { return nil }
        return isNegative ? (-seconds, -nanos) : (seconds, nanos)
    }

    // MARK: Parts

    private static func parseFraction(_ text: inout Substring.UTF8View) -> Int32? {
        guard take(".", of: &text) else { return 0 }
        var nanos: Int32 = 0
        var count = 0
        while let digit = text.first, digit.isASCIIDigit {
            if count == 9 { return nil }
            nanos = nanos * 10 + Int32(digit - UInt8(ascii: "0"))
            count += 1
            text.removeFirst()
        }
        if count == 0 { return nil }
        for _ in count..<9 { nanos *= 10 }
        return nanos
    }

    private static func take(_ character: Unicode.Scalar, of text: inout Substring.UTF8View) -> Bool {
        guard text.first == UInt8(ascii: character) else { return false }
        text.removeFirst()
        return true
    }
}
