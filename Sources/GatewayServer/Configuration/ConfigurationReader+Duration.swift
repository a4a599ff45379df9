import Basics

extension ConfigurationReader {
    /// The unit of a duration.
    enum TimeUnit: String {
        case seconds
        case hours
        case days

        fileprivate var duration: Duration {
            switch self {
            case .seconds: .seconds(1)
            case .hours: .hours(1)
            case .days: .days(1)
            }
        }
    }

    /// Reads a duration.
    ///
    /// - Parameters:
    ///   - key: `section.name`; the name ends with the unit.
    ///   - range: the valid numbers of the unit.
    mutating func duration(
        _ key: String, default standard: Duration, in range: ClosedRange<Int64>, unit: TimeUnit = .seconds
    ) throws(ConfigurationError) -> Duration {
        let scale = unit.duration.wholeSeconds
        let count = try integer(
            key, default: standard.wholeSeconds / scale, in: range, unit: unit.rawValue)
        return .seconds(count * scale)
    }
}
