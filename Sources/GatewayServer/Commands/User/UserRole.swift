import CommandLineInterface

/// The roles of a user, as arguments.
enum UserRole: String, ArgumentChoice {
    case admin, `operator`, viewer, member, service
}
