/// Receives the lines of loggers.
package protocol LogDestination: AnyObject, Sendable {
    /// Whether lines of this level are kept.
    func keeps(_ level: LogLevel) -> Bool

    /// Keeps one line.
    ///
    /// - Parameter fields: adds the fields of the event to the line.
    func write(_ level: LogLevel, _ event: String, _ fields: (inout LogLine) -> Void)
}

/// Writes events to a log. Each component receives its logger as a value; there is no global log.
package struct Logger: Sendable {
    private let destination: (any LogDestination)?
    /// Adds the fields that all lines of this logger share; `nil` without such fields.
    private let scope: (@Sendable (inout LogLine) -> Void)?

    /// A logger that discards everything.
    package static let discarding = Logger(nil)

    package init(_ destination: (any LogDestination)?) {
        self.destination = destination
        scope = nil
    }

    private init(_ destination: any LogDestination, scope: @escaping @Sendable (inout LogLine) -> Void) {
        self.destination = destination
        self.scope = scope
    }

    /// Returns a logger for a part of the work, e.g. one request, which adds the fields to each line before the line's own.
    package func scoped(_ fields: @escaping @Sendable (inout LogLine) -> Void) -> Logger {
        guard let destination else { return self }
        guard let scope else { return Logger(destination, scope: fields) }
        return Logger(destination) { line in
            scope(&line)
            fields(&line)
        }
    }

    /// Writes a line, which must not contain secrets.
    package func write(
        _ event: String, _ details: KeyValuePairs<StaticString, String> = [:], level: LogLevel = .info
    ) {
        guard let destination, destination.keeps(level) else { return }
        destination.write(level, event) { line in
            scope?(&line)
            for (name, value) in details { line.add(name, value) }
        }
    }
}

/// A log destination that passes each line to a function.
private final class LineFunction: LogDestination {
    private let take: @Sendable (String) -> Void

    init(_ take: @escaping @Sendable (String) -> Void) {
        self.take = take
    }

    func keeps(_ level: LogLevel) -> Bool { true }

    func write(_ level: LogLevel, _ event: String, _ fields: (inout LogLine) -> Void) {
        LogLine.write(level, event, at: nil, as: .text, fields) { line in
            take(String(decoding: line.dropLast(), as: UTF8.self))
        }
    }
}

extension Logger {
    /// Makes a logger that passes each line to `take`, without time and line end: `error   a copy failed error=full`.
    package init(lines take: @escaping @Sendable (String) -> Void) {
        self.init(LineFunction(take))
    }
}

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
