package import Basics
package import Database
import Dispatch
import Glibc
import Synchronization

/// The log of the process: a line on standard error for each event.
package final class ProcessLog: LogDestination {
    /// The settings that each line needs, in one atomic byte that a reload replaces.
    private final class Settings: Sendable {
        private static let levels: UInt8 = 0b11
        private static let access: UInt8 = 0b100
        private static let text: UInt8 = 0b1000

        private let bits: Atomic<UInt8>
        private let isTerminal: Bool

        init(isTerminal: Bool) {
            self.isTerminal = isTerminal
            bits = Atomic(Self.bits(LogConfiguration(), isTerminal))
        }

        func set(_ fresh: LogConfiguration) { bits.store(Self.bits(fresh, isTerminal), ordering: .relaxed) }

        private static func bits(_ settings: LogConfiguration, _ isTerminal: Bool) -> UInt8 {
            let isText = settings.format == .text || settings.format == .auto && isTerminal
            return settings.level.rank | (settings.access ? access : 0) | (isText ? text : 0)
        }

        func keeps(_ level: LogLevel) -> Bool { level.rank >= bits.load(ordering: .relaxed) & Self.levels }

        func keepsAccess(_ level: LogLevel) -> Bool {
            let bits = bits.load(ordering: .relaxed)
            return level.rank >= bits & Self.levels && (bits & Self.access != 0 || level == .error)
        }

        var form: LogLine.Form { bits.load(ordering: .relaxed) & Self.text != 0 ? .text : .json }
    }

    private let settings: Settings
    private let writer: LogWriter

    package init(descriptor: Int32 = STDERR_FILENO) {
        let settings = Settings(isTerminal: isatty(descriptor) == 1)
        self.settings = settings
        writer = LogWriter(descriptor: descriptor) { dropped in
            var bytes: [UInt8] = []
            LogLine.write(.warning, "log lines were dropped", at: SystemClock().now(), as: settings.form) { line in
                line.add("count", Int64(dropped))
            } to: {
                bytes.append(contentsOf: $0)
            }
            return bytes
        }
    }

    /// Starts to write lines as they come; without it only ``flush()`` writes them.
    package func start() { writer.start() }

    /// Changes the configuration from the next line on.
    package func configure(_ fresh: LogConfiguration) { settings.set(fresh) }

    package func keeps(_ level: LogLevel) -> Bool { settings.keeps(level) }

    /// Whether lines of calls and requests with this level are kept.
    func keepsAccess(_ level: LogLevel) -> Bool { settings.keepsAccess(level) }

    package func write(_ level: LogLevel, _ event: String, _ fields: (inout LogLine) -> Void) {
        LogLine.write(level, event, at: SystemClock().now(), as: settings.form, fields) { writer.append($0) }
    }

    /// The number of lines that were dropped because standard error did not accept them fast enough.
    var dropped: Int { writer.dropped }

    /// Returns when all lines so far are written, or after two seconds if their reader is too slow.
    package func flush() { writer.flush(limit: .seconds(2)) }
}

extension Logger {
    /// Writes a line about the database's write-ahead log.
    ///
    /// - Parameter path: the path of the database.
    package func write(_ change: LogChange, path: String) {
        switch change {
        case .blocked(let bytes):
            write(
                "another program reads the database and keeps its write-ahead log from shrinking",
                [
                    "bytes": "\(bytes)",
                    "consequence": "the log grows with every change, and a start after a crash takes longer",
                    "hint": "find the program with: fuser -v \(path) (or lsof), and end its read transaction",
                ], level: .warning)
        case .released(let duration):
            write("the database's write-ahead log can shrink again", ["seconds": "\(duration.wholeSeconds)"])
        }
    }
}
