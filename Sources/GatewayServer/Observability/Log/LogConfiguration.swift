/// How much a line matters; the log holds those from its own level on.
enum LogLevel: String, Sendable, CaseIterable, Comparable {
    case debug
    case info
    case warning
    case error

    static func < (left: LogLevel, right: LogLevel) -> Bool { left.rank < right.rank }

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
enum LogFormat: String, Sendable, CaseIterable {
    /// As text where standard error is a terminal, else as JSON.
    case auto
    case json
    case text
}

/// What goes to the log, and how.
struct LogConfiguration: Sendable, Hashable {
    var level = LogLevel.info
    var format = LogFormat.auto
    /// Whether every call and every request has a line, or only those that failed by the gateway's fault.
    var access = true
}
