/// How much a line matters; the log holds those from its own level on.
package enum LogLevel: String, Sendable, CaseIterable, Comparable {
    case debug
    case info
    case warning
    case error

    package static func < (left: LogLevel, right: LogLevel) -> Bool { left.rank < right.rank }

    private var rank: Int {
        switch self {
        case .debug: 0
        case .info: 1
        case .warning: 2
        case .error: 3
        }
    }
}

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
