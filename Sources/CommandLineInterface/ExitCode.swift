/// The exit code of a command.
package enum ExitCode: Int32, Sendable {
    case success = 0
    /// The gateway refused the request, or an operation on this machine failed.
    case refused = 1
    /// The command line is wrong.
    case usage = 2
    /// The gateway could not be reached, did not respond in time, or is overloaded: a later attempt can succeed.
    case unreachable = 3
    /// The gateway ended to be started again, with other data (EX_TEMPFAIL of sysexits.h).
    case restart = 75
}
