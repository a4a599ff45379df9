/// How a command ended, as scripts see it.
package enum ExitCode: Int32, Sendable {
    case success = 0
    /// The gateway said no, or something on this machine did.
    case refused = 1
    /// The command line itself is wrong.
    case usage = 2
    /// The gateway was not reached, did not answer in time, or has no room now: trying again later can help.
    case unreachable = 3
}
