import CommandLineInterface

/// The option with the time zone of the days in a filter.
enum TimeZoneOption {
    static let name = "--time-zone"

    static func parameter<Target>(_ path: WritableKeyPath<Target, String>) -> Parameter<Target> {
        .option(
            name, "ZONE", path, "The time zone of the days in the filter, such as Europe/Berlin (default: UTC)")
    }
}
