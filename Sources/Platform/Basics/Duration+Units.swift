extension Duration {
    package static func minutes(_ count: Int64) -> Duration { .seconds(count * 60) }

    package static func hours(_ count: Int64) -> Duration { .seconds(count * 3600) }

    package static func days(_ count: Int64) -> Duration { .seconds(count * 86_400) }

    /// Rounded towards zero.
    package var wholeSeconds: Int64 { components.seconds }
}
