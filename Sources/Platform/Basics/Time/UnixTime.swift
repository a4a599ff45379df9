/// A point in time: microseconds since 1970-01-01T00:00:00Z, leap seconds not counted.
///
/// The one form in which times are stored and compared; the database holds `microseconds`, the API mostly `seconds`.
package struct UnixTime: Sendable, Hashable, Comparable {
    package let microseconds: Int64

    package init(microseconds: Int64) {
        self.microseconds = microseconds
    }

    package init(seconds: Int64) {
        self.microseconds = seconds.multipliedReportingOverflow(by: 1_000_000).partialValue
    }

    /// Whole seconds, rounded down.
    package var seconds: Int64 {
        microseconds >= 0 ? microseconds / 1_000_000 : (microseconds - 999_999) / 1_000_000
    }

    package static func < (left: UnixTime, right: UnixTime) -> Bool {
        left.microseconds < right.microseconds
    }

    package func adding(seconds: Int64) -> UnixTime {
        UnixTime(microseconds: microseconds &+ seconds &* 1_000_000)
    }

    package func adding(microseconds delta: Int64) -> UnixTime {
        UnixTime(microseconds: microseconds &+ delta)
    }

    /// Adds a duration, rounded towards zero to microseconds.
    package func adding(_ duration: Duration) -> UnixTime {
        let (seconds, attoseconds) = duration.components
        return adding(seconds: seconds).adding(microseconds: attoseconds / 1_000_000_000_000)
    }

    package func subtracting(_ duration: Duration) -> UnixTime {
        adding(.zero - duration)
    }

    /// Returns the duration since `earlier`; negative if `earlier` is later.
    package func duration(since earlier: UnixTime) -> Duration {
        .microseconds(microseconds &- earlier.microseconds)
    }
}

extension Duration {
    package static func minutes(_ count: Int64) -> Duration { .seconds(count * 60) }

    package static func hours(_ count: Int64) -> Duration { .seconds(count * 3600) }

    package static func days(_ count: Int64) -> Duration { .seconds(count * 86_400) }

    /// The duration without its sign.
    package var magnitude: Duration { self < .zero ? .zero - self : self }

    /// Whole seconds, rounded towards zero.
    package var wholeSeconds: Int64 { components.seconds }

    /// Nanoseconds as the event loop counts them; 0 for a negative duration.
    package var loopTime: UInt64 { UInt64(max(0, nanoseconds)) }

    /// Whole nanoseconds, at most `Int64.max`.
    package var nanoseconds: Int64 {
        let (seconds, attoseconds) = components
        let (scaled, overflow) = seconds.multipliedReportingOverflow(by: 1_000_000_000)
        return overflow ? .max : scaled.addingReportingOverflow(attoseconds / 1_000_000_000).partialValue
    }
}
