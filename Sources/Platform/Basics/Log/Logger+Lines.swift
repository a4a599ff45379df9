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
