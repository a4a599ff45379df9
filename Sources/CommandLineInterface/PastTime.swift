package import Basics

/// A time in the past, written as an age or as a date.
package enum PastTime: ArgumentValue, Hashable {
    case ago(seconds: Int64)
    case at(UnixTime)

    package init(argument: String) throws(ArgumentProblem) {
        if let unit = argument.last.flatMap({ TimeSpan.units[$0] }), let count = Int32(argument.dropLast()), count >= 0
        {
            self = .ago(seconds: Int64(count) * unit)
        } else if let time = UnixTime(dateOrTime: argument) {
            self = .at(time)
        } else {
            throw ArgumentProblem(
                "must be an age like 30m, 24h, 7d or a time like 2026-01-31T08:00:00Z or 2026-01-31, not '\(argument)'")
        }
    }

    package func time(at now: UnixTime) -> UnixTime {
        switch self {
        case .ago(let seconds): now.adding(seconds: -seconds)
        case .at(let time): time
        }
    }
}

extension UnixTime {
    /// Parses an RFC 3339 time, or a date, which stands for the beginning of the day in UTC.
    package init?(dateOrTime text: String) {
        if let time = RFC3339.parse(text) {
            self = time.second
        } else if text.utf8.count == 10, let time = RFC3339.parse("\(text)T00:00:00Z") {
            self = time.second
        } else {
            return nil
        }
    }
}

/// A length of time, written like `30m`, `2h` or `7d`.
package struct TimeSpan: ArgumentValue, Hashable {
    fileprivate static let units: [Character: Int64] = ["s": 1, "m": 60, "h": 3600, "d": 86_400]

    /// The length in seconds; above 0.
    package let seconds: Int64

    package init(argument: String) throws(ArgumentProblem) {
        guard let unit = argument.last.flatMap({ Self.units[$0] }), let count = Int32(argument.dropLast()), count > 0
        else { throw ArgumentProblem("must be a time like 30m, 2h or 7d, not '\(argument)'") }
        seconds = Int64(count) * unit
    }
}
