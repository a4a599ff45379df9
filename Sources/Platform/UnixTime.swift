/// A point in time: microseconds since 1970-01-01T00:00:00Z, leap seconds not counted.
///
/// The one form in which times are kept and compared; the database holds `microseconds`, the wire mostly `seconds`.
public struct UnixTime: Sendable, Hashable, Comparable {
    public let microseconds: Int64

    public init(microseconds: Int64) {
        self.microseconds = microseconds
    }

    public init(seconds: Int64) {
        self.microseconds = seconds.multipliedReportingOverflow(by: 1_000_000).partialValue
    }

    /// Whole seconds, rounded down.
    public var seconds: Int64 {
        microseconds >= 0 ? microseconds / 1_000_000 : (microseconds - 999_999) / 1_000_000
    }

    public static func < (left: UnixTime, right: UnixTime) -> Bool {
        left.microseconds < right.microseconds
    }

    public func adding(seconds: Int64) -> UnixTime {
        UnixTime(microseconds: microseconds &+ seconds &* 1_000_000)
    }

    public func adding(microseconds delta: Int64) -> UnixTime {
        UnixTime(microseconds: microseconds &+ delta)
    }

    /// What is less than a microsecond is left out.
    public func adding(_ duration: Duration) -> UnixTime {
        let (seconds, attoseconds) = duration.components
        return adding(seconds: seconds).adding(microseconds: attoseconds / 1_000_000_000_000)
    }

    /// Negative where `earlier` is later.
    public func duration(since earlier: UnixTime) -> Duration {
        .microseconds(microseconds &- earlier.microseconds)
    }
}
