/// A length of time, written like `30m`, `2h` or `7d`.
package struct TimeSpan: ArgumentValue, Hashable {
    private static let units: [Character: Int64] = ["s": 1, "m": 60, "h": 3600, "d": 86_400]

    /// The length in seconds; above 0.
    package let seconds: Int64

    package init(argument: String) throws(ArgumentProblem) {
        guard let unit = argument.last.flatMap({ Self.units[$0] }), let count = Int32(argument.dropLast()), count > 0
        else { throw ArgumentProblem("must be a time like 30m, 2h or 7d, not '\(argument)'") }
        seconds = Int64(count) * unit
    }
}
