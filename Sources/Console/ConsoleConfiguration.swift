/// What can be set about the console.
package struct ConsoleConfiguration: Sendable {
    /// How long a session holds in which nobody does anything, in seconds.
    package var sessionIdleSeconds: Int64 = 30 * 60
    /// How long a session holds in any case, in seconds.
    package var sessionTotalSeconds: Int64 = 12 * 3600
    /// Sessions at once, of all users.
    package var maximumSessions = 256
    /// Sessions at once, of one user; one more ends the oldest.
    package var maximumSessionsPerUser = 8

    package init() {}
}
