import Basics
import TimeZones

extension ObjectFilter {
    /// The times of an object that terms compare.
    package enum TimeField: Sendable, Hashable {
        case created, recorded, recordedFrom, recordedTo

        func term(_ interval: Interval) -> ResolvedFilter.Term {
            switch self {
            case .created: .created(interval)
            case .recorded: .recorded(interval)
            case .recordedFrom: .recordedFrom(interval)
            case .recordedTo: .recordedTo(interval)
            }
        }
    }

    /// Successive days, which begin and end when the zone of the request says so.
    package enum Days: Sendable, Hashable {
        /// A date, counted in days since 1970.
        case date(Int64)
        /// Days counted from the current one, which is 0.
        case relative(ClosedRange<Int64>)

        /// Returns the first microsecond of the days, and the first one after them.
        ///
        /// - Parameter now: seconds since 1970.
        func interval(at now: Int64, in zone: TimeZoneRules) -> (first: Int64, next: Int64) {
            let days: ClosedRange<Int64>
            switch self {
            case .date(let day): days = day...day
            case .relative(let offsets):
                let today = zone.day(of: UnixTime(seconds: now))
                days = today + offsets.lowerBound...today + offsets.upperBound
            }
            return (
                zone.start(ofDay: days.lowerBound).microseconds, zone.start(ofDay: days.upperBound + 1).microseconds
            )
        }
    }
}

extension FilterQuantity {
    private static let mostDays: Int64 = 36_500

    /// Parses a date such as `2026-01-31` as days since 1970.
    static func date(_ text: String) -> Int64? {
        let parts = text.split(separator: "-", omittingEmptySubsequences: false)
        guard parts.map(\.utf8.count) == [4, 2, 2], let year = number(String(parts[0])),
            let month = number(String(parts[1])), let day = number(String(parts[2])),
            let start = CivilTime(year: Int(year), month: Int(month), day: Int(day), hour: 0, minute: 0, second: 0)
        else { return nil }
        return TimeZoneRules.utc.day(of: start.unix)
    }

    /// Parses `today`, `yesterday` or `last N days`, which end with the current one.
    static func relativeDays(_ text: String) -> ClosedRange<Int64>? {
        let words = text.lowercased().split(separator: " ").map(String.init)
        switch words.first {
        case "today" where words.count == 1: return 0...0
        case "yesterday" where words.count == 1: return -1 ... -1
        case "last" where words.count == 3 && ["day", "days"].contains(words[2]):
            guard let count = number(words[1]), (1...mostDays).contains(count) else { return nil }
            return 1 - count...0
        default: return nil
        }
    }
}
