import Basics

/// The settings of the console.
package struct ConsoleConfiguration: Sendable {
    package var isEnabled = true
    /// The time without activity after which a session ends.
    package var sessionIdle = Duration.minutes(30)
    /// The longest duration of a session.
    package var sessionTotal = Duration.hours(12)
    /// The largest number of concurrent sessions of all users; another sign-in ends a session of the organization with the most.
    package var maximumSessions = 256
    /// The largest number of concurrent sessions of one user; another sign-in ends the oldest session.
    package var maximumSessionsPerUser = 8

    /// The console's URL for browsers, without a slash at its end; `nil` = the one by which a browser reached it.
    package var publicURL: String?
    /// Whether the web listener uses TLS.
    package var isSecure = false

    package init() {}
}
