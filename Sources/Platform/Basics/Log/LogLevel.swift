/// The importance of a log line; a log keeps the lines of its own level and above.
package enum LogLevel: String, Sendable, CaseIterable, Comparable {
    case debug
    case info
    case warning
    case error

    package static func < (left: LogLevel, right: LogLevel) -> Bool { left.rank < right.rank }

    /// The order of the levels; 0 is the least important.
    package var rank: UInt8 {
        switch self {
        case .debug: 0
        case .info: 1
        case .warning: 2
        case .error: 3
        }
    }
}
