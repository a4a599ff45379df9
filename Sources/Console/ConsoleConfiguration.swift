import Basics

/// What can be set about the console.
package struct ConsoleConfiguration: Sendable {
    /// How long a session holds in which nobody does anything.
    package var sessionIdle = Duration.minutes(30)
    /// How long a session holds in any case.
    package var sessionTotal = Duration.hours(12)
    /// Sessions at once, of all users.
    package var maximumSessions = 256
    /// Sessions at once, of one user; one more ends the oldest.
    package var maximumSessionsPerUser = 8

    package init() {}
}
