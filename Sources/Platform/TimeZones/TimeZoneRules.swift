package import Basics

/// The offsets of a time zone, and the days that follow from them.
///
/// Days begin at quarter hours of UTC, so that numbers of objects by quarter hour can be summed to days of any zone. All zones have had
/// such offsets since 1972; before, a day begins at the quarter hour before midnight.
package struct TimeZoneRules: Sendable, Hashable {
    /// A change of the offset.
    struct Change: Sendable, Hashable {
        /// Seconds since 1970.
        let at: Int64
        /// Seconds east of UTC, from then on.
        let offset: Int64
    }

    /// A time in which the offset is constant.
    package struct Span: Sendable, Hashable {
        /// Seconds since 1970, from the first up to but not including the last.
        package let seconds: Range<Int64>
        /// Seconds east of UTC.
        package let offset: Int64
    }

    /// Seconds in a quarter hour and in a day.
    package static let (quarter, day): (Int64, Int64) = (900, 86_400)
    /// The bounds of all times: the years 0 to 9999 with a day on each side, in seconds since 1970.
    package static let allTimes: Range<Int64> = -62_167_305_600..<253_402_387_200

    package static let utc = TimeZoneRules(name: "UTC", initial: 0, changes: [])

    package let name: String
    /// The spans without gaps, in their order.
    private let spans: [Span]

    /// - Parameters:
    ///   - initial: the offset before the first change.
    ///   - changes: in their order.
    init(name: String, initial: Int64, changes: [Change]) {
        self.name = name
        var spans: [Span] = []
        var (start, offset) = (Self.allTimes.lowerBound, Self.roundedUp(initial))
        for change in changes where Self.allTimes.contains(change.at) {
            let next = Self.roundedUp(change.offset)
            var at = Self.roundedDown(change.at)
            let (dayBefore, dayAfter) = (Self.floor(at - 1 + offset, Self.day), Self.floor(at + next, Self.day))
            // Clocks that are put back across midnight do not return to a day that had ended.
            if dayAfter < dayBefore { at = dayBefore * Self.day - next }
            guard at > start, next != offset else {
                if at <= start { offset = next }
                continue
            }
            spans.append(Span(seconds: start..<at, offset: offset))
            (start, offset) = (at, next)
        }
        spans.append(Span(seconds: start..<Self.allTimes.upperBound, offset: offset))
        self.spans = spans
    }

    /// Returns the day of a time, counted since 1970.
    package func day(of time: UnixTime) -> Int64 {
        let seconds = min(max(time.seconds, Self.allTimes.lowerBound), Self.allTimes.upperBound - 1)
        return Self.floor(seconds + spans[index(at: seconds)].offset, Self.day)
    }

    /// Returns the beginning of a day. A day that the zone skipped begins where the next one does.
    ///
    /// - Parameter day: counted since 1970.
    package func start(ofDay day: Int64) -> UnixTime {
        let (midnight, isTooLarge) = day.multipliedReportingOverflow(by: Self.day)
        guard !isTooLarge, Self.allTimes.contains(midnight) else {
            return UnixTime(seconds: day < 0 ? Self.allTimes.lowerBound : Self.allTimes.upperBound)
        }
        // Offsets are below two days, so that the span before the one of the day is found in any case.
        var index = index(at: max(midnight - 2 * Self.day, Self.allTimes.lowerBound))
        while index < spans.count - 1, spans[index].seconds.upperBound - 1 + spans[index].offset < midnight {
            index += 1
        }
        let span = spans[index]
        return UnixTime(seconds: max(midnight - span.offset, span.seconds.lowerBound))
    }

    /// Returns the spans that are at least in part between two times, in their order.
    ///
    /// - Parameter times: seconds since 1970.
    package func spans(in times: Range<Int64>) -> ArraySlice<Span> {
        let times = times.clamped(to: Self.allTimes)
        guard !times.isEmpty else { return [] }
        return spans[index(at: times.lowerBound)...index(at: times.upperBound - 1)]
    }

    /// Returns the index of the span that contains a time.
    private func index(at seconds: Int64) -> Int {
        var (low, high) = (0, spans.count - 1)
        while low < high {
            let middle = (low + high + 1) / 2
            if spans[middle].seconds.lowerBound <= seconds { low = middle } else { high = middle - 1 }
        }
        return low
    }

    private static func roundedUp(_ seconds: Int64) -> Int64 { -roundedDown(-seconds) }

    private static func roundedDown(_ seconds: Int64) -> Int64 { floor(seconds, quarter) * quarter }

    private static func floor(_ value: Int64, _ divisor: Int64) -> Int64 {
        let (quotient, remainder) = value.quotientAndRemainder(dividingBy: divisor)
        return remainder < 0 ? quotient - 1 : quotient
    }
}
