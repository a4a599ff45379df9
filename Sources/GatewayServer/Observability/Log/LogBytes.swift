import Basics

/// A line of the log while it is written. Nothing in a text can end the line, or take hold of a terminal.
struct LogBytes {
    private(set) var bytes: [UInt8] = []

    init() { bytes.reserveCapacity(512) }

    /// What holds nothing to escape.
    mutating func append(_ text: String) { bytes.append(contentsOf: text.utf8) }

    /// A JSON string.
    mutating func appendQuoted(_ text: String) {
        guard Self.isPlain(text, orBlank: true) else { return append(JSONValue.string(text).text) }
        bytes.append(UInt8(ascii: "\""))
        append(text)
        bytes.append(UInt8(ascii: "\""))
    }

    /// Without quotation marks where it cannot be misread.
    mutating func appendWord(_ text: String, isEvent: Bool = false) {
        if !text.isEmpty, Self.isPlain(text, orBlank: isEvent), !text.utf8.contains(UInt8(ascii: "=")) {
            append(text)
        } else {
            appendQuoted(text)
        }
    }

    /// RFC 3339, to the microsecond.
    mutating func append(_ time: UnixTime) {
        let civil = CivilTime(time)
        append(civil.year, digits: 4)
        append("-")
        append(civil.month, digits: 2)
        append("-")
        append(civil.day, digits: 2)
        append("T")
        append(civil.hour, digits: 2)
        append(":")
        append(civil.minute, digits: 2)
        append(":")
        append(civil.second, digits: 2)
        append(".")
        append(Int(time.microseconds - time.seconds * 1_000_000), digits: 6)
        append("Z")
    }

    mutating func append(thousandths number: Int64) {
        append("\(number / 1000).")
        append(Int(number % 1000), digits: 3)
    }

    private mutating func append(_ number: Int, digits: Int) {
        var divisor = 1
        for _ in 1..<digits { divisor *= 10 }
        while divisor > 0 {
            bytes.append(UInt8(ascii: "0") + UInt8(number / divisor % 10))
            divisor /= 10
        }
    }

    private static func isPlain(_ text: String, orBlank isBlankPlain: Bool) -> Bool {
        text.utf8.allSatisfy { byte in
            byte > 0x20 && byte < 0x7F && byte != UInt8(ascii: "\"") && byte != UInt8(ascii: "\\")
                || byte == 0x20 && isBlankPlain
        }
    }
}
