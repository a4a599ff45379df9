import Console

extension Configuration {
    /// Reads the section `console`; `nil` = no console. A web listener that other machines can reach has a console only if the
    /// configuration enables it.
    static func console(
        _ reader: inout ConfigurationReader, isOnLoopback: Bool
    ) throws(ConfigurationError) -> ConsoleConfiguration? {
        var console = ConsoleConfiguration()
        console.sessionIdle = try reader.duration(
            "console.session_idle_seconds", default: console.sessionIdle, in: 60...86_400)
        console.sessionTotal = try reader.duration(
            "console.session_total_seconds", default: console.sessionTotal, in: 60...604_800)
        console.maximumSessions = Int(
            try reader.integer(
                "console.max_sessions", default: Int64(console.maximumSessions), in: 1...10_000, unit: "sessions"))
        console.maximumSessionsPerUser = Int(
            try reader.integer(
                "console.max_sessions_per_user", default: Int64(console.maximumSessionsPerUser), in: 1...1000,
                unit: "sessions"))
        return try reader.flag("console.enabled", standard: "on loopback only") ?? isOnLoopback ? console : nil
    }
}
