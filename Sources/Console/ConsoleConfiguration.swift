import Basics
package import Capability
package import Settings

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

extension ConsoleConfiguration: CapabilitySettings {
    /// Reads the section `console`. A web listener that other machines can reach has a console only if the
    /// configuration enables it.
    package init(_ settings: SettingsReader, _ context: SettingsContext) {
        self.init()
        let section = settings.section("console")
        sessionIdle = section.duration("session_idle_seconds", default: sessionIdle, in: 60...86_400)
        sessionTotal = section.duration("session_total_seconds", default: sessionTotal, in: 60...604_800)
        maximumSessions = section.integer("max_sessions", default: maximumSessions, in: 1...10_000, unit: "sessions")
        maximumSessionsPerUser = section.integer(
            "max_sessions_per_user", default: maximumSessionsPerUser, in: 1...1000, unit: "sessions")
        isEnabled = section.flag("enabled", standard: "on loopback only") ?? context.isOnLoopback(.web)
        isSecure = context.securedListeners.contains(.web)
    }
}
