extension Duration {
    package static func minutes(_ count: Int64) -> Duration { .seconds(count * 60) }

    package static func hours(_ count: Int64) -> Duration { .seconds(count * 3600) }

    package static func days(_ count: Int64) -> Duration { .seconds(count * 86_400) }

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
