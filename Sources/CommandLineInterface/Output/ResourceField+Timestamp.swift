import Basics
import Foundation
import JSON
package import Proto

extension ResourceField {
    /// A time as RFC 3339, for programs in UTC and for people local; `null` if it is not known.
    package static func time(_ name: String, _ value: Timestamp?) -> ResourceField {
        guard let value else { return ResourceField(name: name, json: .null, text: "") }
        return ResourceField(name: name, json: .string(value.rfc3339()), text: value.localText)
    }
}

extension Timestamp {
    /// The time to the second, for people.
    fileprivate var localText: String {
        let isOrdinary = (-12_219_292_800...253_402_300_799).contains(seconds)
        return isOrdinary ? LocalTime.text(UnixTime(seconds: seconds)) : rfc3339(withFraction: false)
    }

    /// Returns e.g. `2026-11-21T14:57:10.25Z`; a fraction has no trailing zeros.
    ///
    /// Times before the Gregorian calendar's first day, 1582-10-15, and after the year 9999 are replaced by the nearest one in that
    /// range.
    func rfc3339(withFraction: Bool = true) -> String {
        let whole = min(max(seconds, -12_219_292_800), 253_402_300_799)
        let date = Date(timeIntervalSince1970: TimeInterval(whole)).formatted(.iso8601)
        guard withFraction, (1..<1_000_000_000).contains(nanos) else { return date }
        var digits = String(String(1_000_000_000 + Int64(nanos)).dropFirst())
        while digits.hasSuffix("0") { digits.removeLast() }
        return "\(date.dropLast()).\(digits)Z"
    }
}
