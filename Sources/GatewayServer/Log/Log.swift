import Glibc
import Platform
import Synchronization

/// Standard error: one line an event. No secret is ever given to it.
enum Log {
    private static let writer = {
        let writer = LogWriter(descriptor: STDERR_FILENO)
        writer.start()
        return writer
    }()
    private static let configuration = Mutex(LogConfiguration())
    private static let isTerminal = isatty(STDERR_FILENO) == 1

    /// Holds from the next line on.
    static func configure(_ fresh: LogConfiguration) {
        configuration.withLock { $0 = fresh }
    }

    static func write(_ event: String, _ details: KeyValuePairs<String, String> = [:], level: LogLevel = .info) {
        var line = LogLine(level, event)
        for (name, value) in details { line.add(name, value) }
        write(line)
    }

    static func write(_ line: LogLine) {
        let current = configuration.withLock { $0 }
        guard line.level >= current.level else { return }
        let isText = current.format == .text || current.format == .auto && isTerminal
        writer.append(isText ? line.text(at: SystemClock().now()) : line.json(at: SystemClock().now()))
    }

    /// Whether a line of a call or a request is wanted.
    static func wantsAccess(_ level: LogLevel) -> Bool {
        configuration.withLock { level >= $0.level && ($0.access || level == .error) }
    }

    /// Lines that were lost because standard error did not take them fast enough.
    static var dropped: Int { writer.dropped }

    /// Returns when every line so far is written.
    static func flush() { writer.drain() }
}
