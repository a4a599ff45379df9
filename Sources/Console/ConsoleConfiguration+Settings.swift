package import Capability
package import Settings

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
