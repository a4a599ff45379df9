/// Takes the lines of loggers.
package protocol LogDestination: AnyObject, Sendable {
    /// Whether lines of this level are kept.
    func keeps(_ level: LogLevel) -> Bool

    /// Keeps one line.
    ///
    /// - Parameter fields: adds what is to be said of the event.
    func write(_ level: LogLevel, _ event: String, _ fields: (inout LogLine) -> Void)
}

/// Writes events to a log. Whatever has something to tell operators is given one; there is no log that all can reach.
package struct Logger: Sendable {
    private let destination: (any LogDestination)?
    /// What all lines of this logger have in common; `nil` = nothing.
    private let scope: (@Sendable (inout LogLine) -> Void)?

    /// Keeps nothing.
    package static let discarding = Logger(nil)

    package init(_ destination: (any LogDestination)?) {
        self.destination = destination
        scope = nil
    }

    private init(_ destination: any LogDestination, scope: @escaping @Sendable (inout LogLine) -> Void) {
        self.destination = destination
        self.scope = scope
    }

    /// The same log for a part of the work, e.g. one request: the fields stand in each line, before the line's own.
    package func scoped(_ fields: @escaping @Sendable (inout LogLine) -> Void) -> Logger {
        guard let destination else { return self }
        guard let scope else { return Logger(destination, scope: fields) }
        return Logger(destination) { line in
            scope(&line)
            fields(&line)
        }
    }

    /// Writes a line. No secret is ever given to it.
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
