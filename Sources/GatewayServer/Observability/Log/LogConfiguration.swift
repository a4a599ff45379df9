import Basics

/// How a line is written.
package enum LogFormat: String, Sendable, CaseIterable {
    /// Text where standard error is a terminal, else JSON.
    case auto
    case json
    case text
}

/// What goes to the log, and how.
package struct LogConfiguration: Sendable, Hashable {
    package var level: LogLevel
    package var format: LogFormat
    /// Whether every call and every request has a line, or only those that failed by the gateway's fault.
    package var access: Bool

    package init(level: LogLevel = .info, format: LogFormat = .auto, access: Bool = true) {
        self.level = level
        self.format = format
        self.access = access
    }
}
