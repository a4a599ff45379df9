import Basics

/// One event and what is to be said of it, on its way to the log.
struct LogLine: Sendable {
    private enum Value: Sendable {
        case text(String)
        case number(Int64)
        case thousandths(Int64)
    }

    let level: LogLevel
    let event: String
    private var fields: [(name: String, value: Value)] = []

    init(_ level: LogLevel, _ event: String) {
        self.level = level
        self.event = event
    }

    mutating func add(_ name: String, _ text: String) { fields.append((name, .text(text))) }

    /// Nothing where there is no text.
    mutating func add(_ name: String, _ text: String?) {
        if let text { add(name, text) }
    }

    mutating func add(_ name: String, _ number: Int64) { fields.append((name, .number(number))) }

    /// Nothing where there is no number.
    mutating func add(_ name: String, _ number: Int64?) {
        if let number { add(name, number) }
    }

    /// Milliseconds with three digits behind the point.
    mutating func add(_ name: String, nanoseconds: UInt64) {
        fields.append((name, .thousandths(Int64(clamping: nanoseconds / 1000))))
    }

    // MARK: as bytes, with the line's end

    func json(at time: UnixTime) -> [UInt8] {
        var line = LogBytes()
        line.append("{\"time\":\"")
        line.append(time)
        line.append("\",\"level\":\"")
        line.append(level.rawValue)
        line.append("\",\"event\":")
        line.appendQuoted(event)
        for field in fields {
            line.append(",")
            line.appendQuoted(field.name)
            line.append(":")
            switch field.value {
            case .text(let text): line.appendQuoted(text)
            case .number(let number): line.append("\(number)")
            case .thousandths(let number): line.append(thousandths: number)
            }
        }
        line.append("}\n")
        return line.bytes
    }

    /// For people: `2026-11-21T08:00:00.123456Z info  call method=/a.B/C code=OK`.
    func text(at time: UnixTime) -> [UInt8] {
        var line = LogBytes()
        line.append(time)
        line.append(" ")
        line.append(level.rawValue)
        // The longest is `warning`.
        line.append(String(repeating: " ", count: 8 - level.rawValue.utf8.count))
        line.appendWord(event, isEvent: true)
        for field in fields {
            line.append(" ")
            line.append(field.name)
            line.append("=")
            switch field.value {
            case .text(let text): line.appendWord(text)
            case .number(let number): line.append("\(number)")
            case .thousandths(let number): line.append(thousandths: number)
            }
        }
        line.append("\n")
        return line.bytes
    }
}
