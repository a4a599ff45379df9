/// What can be set about the console.
public struct ConsoleConfiguration: Sendable {
    /// How long a session holds in which nobody does anything, in seconds.
    public var sessionIdleSeconds: Int64 = 30 * 60
    /// How long a session holds in any case, in seconds.
    public var sessionTotalSeconds: Int64 = 12 * 3600
    /// Sessions at once, of all users.
    public var maximumSessions = 256
    /// Sessions at once, of one user; one more ends the oldest.
    public var maximumSessionsPerUser = 8

    public init() {}
}
