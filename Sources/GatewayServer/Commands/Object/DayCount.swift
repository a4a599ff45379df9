import CommandLineInterface

/// An argument with a number of days, 0 or more.
struct DayCount: ArgumentValue, Hashable {
    var days: Int32 = 0

    init() {}

    init(argument: String) throws(ArgumentProblem) {
        guard let days = Int32(argument), days >= 0 else {
            throw ArgumentProblem("must be a number of days, 0 or more, not '\(argument)'")
        }
        self.days = days
    }
}
