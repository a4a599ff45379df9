package import Basics
package import Settings

/// The format of log lines.
package enum LogFormat: String, Sendable, CaseIterable {
    /// Text if standard error is a terminal, else JSON.
    case auto
    case json
    case text
}

/// The level, the format and the contents of the log.
package struct LogConfiguration: Sendable, Hashable {
    package var level: LogLevel
    package var format: LogFormat
    /// Whether every call and every request is logged, or only those that failed because of the gateway.
    package var access: Bool

    package init(level: LogLevel = .info, format: LogFormat = .auto, access: Bool = true) {
        self.level = level
        self.format = format
        self.access = access
    }
}

extension LogConfiguration {
    /// Reads the section `log`.
    package init(_ settings: SettingsReader) {
        self.init()
        let section = settings.section("log")
        level = section.choice("level", default: level)
        format = section.choice("format", default: format)
        access = section.flag("access", default: access)
    }
}
