import CommandLineInterface
import JSON

/// The time without a call after which a device is reported as silent: `12h`, `3d`, `never`, or `inherit`.
enum SilenceArgument: ArgumentValue, Hashable {
    case after(hours: Int32)
    case never
    case inherited

    static let help = "Whole hours such as 12h or 3d, 'never', or 'inherit' for that of what contains it"

    init(argument: String) throws(ArgumentProblem) {
        switch argument {
        case "never": self = .never
        case "inherit": self = .inherited
        default:
            guard let time = try? TimeSpan(argument: argument), time.seconds % 3600 == 0,
                let hours = Int32(exactly: time.seconds / 3600)
            else {
                throw ArgumentProblem("must be whole hours like 12h or 3d, never or inherit, not '\(argument)'")
            }
            self = .after(hours: hours)
        }
    }

    /// The value in a request.
    var hours: Int32 {
        switch self {
        case .after(let hours): hours
        case .never: 0
        case .inherited: -1
        }
    }

    /// The field of a site, a suite or a device.
    static func field(_ hours: Int32?) -> ResourceField {
        ResourceField(
            name: "silent_after_hours", json: hours.map { .number(Int64($0)) } ?? .null,
            text: hours.map { $0 == 0 ? "never" : "\($0)" } ?? "")
    }
}
