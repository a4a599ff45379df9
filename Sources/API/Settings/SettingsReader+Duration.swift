import Basics

extension SettingsReader {
    /// The unit of a duration.
    package enum TimeUnit: String {
        case seconds
        case minutes
        case hours
        case days

        fileprivate var duration: Duration {
            switch self {
            case .seconds: .seconds(1)
            case .minutes: .minutes(1)
            case .hours: .hours(1)
            case .days: .days(1)
            }
        }
    }

    /// Reads a duration.
    ///
    /// - Parameters:
    ///   - name: ends with the unit.
    ///   - range: the valid numbers of the unit.
    package func duration(
        _ name: String, default standard: Duration, in range: ClosedRange<Int64>, unit: TimeUnit = .seconds
    ) -> Duration {
        let scale = unit.duration.wholeSeconds
        return .seconds(
            integer(name, default: standard.wholeSeconds / scale, in: range, unit: unit.rawValue) * scale)
    }
}
