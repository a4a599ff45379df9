import Basics
import Glibc

/// Standard error: one line an event. No secret is ever given to it.
package enum Log {
    private static let writer = {
        let writer = LogWriter(descriptor: STDERR_FILENO) { dropped in
            var line = LogLine(.warning, "log lines were dropped")
            line.add("count", Int64(dropped))
            return bytes(line, format)
        }
        writer.start()
        return writer
    }()
    private static let configuration = Lock(LogConfiguration())
    private static let isTerminal = isatty(STDERR_FILENO) == 1

    /// Holds from the next line on.
    package static func configure(_ fresh: LogConfiguration) {
        configuration.withLock { $0 = fresh }
    }

    package static func write(_ event: String, _ details: KeyValuePairs<String, String> = [:], level: LogLevel = .info)
    {
        var line = LogLine(level, event)
        for (name, value) in details { line.add(name, value) }
        write(line)
    }

    static func write(_ line: LogLine) {
        let current = configuration.withLock { $0 }
        guard line.level >= current.level else { return }
        writer.append(bytes(line, current.format))
    }

    private static var format: LogFormat { configuration.withLock { $0.format } }

    private static func bytes(_ line: LogLine, _ format: LogFormat) -> [UInt8] {
        let isText = format == .text || format == .auto && isTerminal
        let now = SystemClock().now()
        return isText ? line.text(at: now) : line.json(at: now)
    }

    /// Whether a line of a call or a request is wanted.
    static func wantsAccess(_ level: LogLevel) -> Bool {
        configuration.withLock { level >= $0.level && ($0.access || level == .error) }
    }

    /// Lines that were lost because standard error did not take them fast enough.
    static var dropped: Int { writer.dropped }

    /// Returns when every line so far is written, or when whoever reads them has not done so for two seconds.
    package static func flush() { writer.flush(limit: .seconds(2)) }
}
