import Glibc

/// A log line under construction, written directly into memory that the caller lends, so that most lines allocate nothing. No text
/// can end the line early or control a terminal.
package struct LogLine: ~Copyable {
    /// The format of a line.
    package enum Form: Sendable {
        /// A JSON object.
        case json
        /// Text for people: `2026-11-21T08:00:00.123456Z info    call method=/a.B/C code=OK`.
        case text
    }

    /// The size in bytes of a buffer that most lines fit in.
    package static let usualSize = 1024

    private let form: Form
    private let memory: UnsafeMutableRawBufferPointer
    private var count = 0
    /// The whole line, once it is longer than the buffer.
    private var longer: [UInt8] = []

    /// - Parameters:
    ///   - time: the time of the event; `nil` omits it.
    ///   - memory: space for the line, which has to stay valid as long as the line.
    init(
        _ level: LogLevel, _ event: String, at time: UnixTime?, as form: Form, in memory: UnsafeMutableRawBufferPointer
    ) {
        self.form = form
        self.memory = memory
        switch form {
        case .json:
            put("{")
            if let time {
                put("\"time\":\"")
                append(time)
                put("\",")
            }
            put("\"level\":\"")
            append(level.rawValue)
            put("\",\"event\":")
            append(text: event, mayHoldBlanks: true)
        case .text:
            if let time {
                append(time)
                put(" ")
            }
            append(level.rawValue)
            // The longest level is `warning`.
            for _ in level.rawValue.utf8.count..<8 { put(" ") }
            append(text: event, mayHoldBlanks: true)
        }
    }

    /// Writes a line into temporary memory.
    ///
    /// - Parameter take: receives the line's bytes, including the line end; they are valid during the call only.
    package static func write(
        _ level: LogLevel, _ event: String, at time: UnixTime?, as form: Form, _ fields: (inout LogLine) -> Void,
        to take: (UnsafeRawBufferPointer) -> Void
    ) {
        withUnsafeTemporaryAllocation(byteCount: usualSize, alignment: 8) { memory in
            var line = LogLine(level, event, at: time, as: form, in: memory)
            fields(&line)
            line.end(take)
        }
    }

    // MARK: Fields

    package mutating func add(_ name: StaticString, _ text: String) {
        begin(name)
        append(text: text)
    }

    /// Adds the field if there is a text.
    package mutating func add(_ name: StaticString, _ text: String?) {
        if let text { add(name, text) }
    }

    /// Adds a field whose text `write` appends piece by piece.
    package mutating func add(_ name: StaticString, _ write: (inout LogLine) -> Void) {
        begin(name)
        let start = beginText()
        write(&self)
        endText(from: start, mayHoldBlanks: false)
    }

    package mutating func add(_ name: StaticString, _ number: Int64) {
        begin(name)
        append(number)
    }

    /// Adds the field if there is a number.
    package mutating func add(_ name: StaticString, _ number: Int64?) {
        if let number { add(name, number) }
    }

    /// Adds a duration in milliseconds with three decimal places.
    package mutating func add(_ name: StaticString, nanoseconds: UInt64) {
        begin(name)
        let microseconds = Int64(clamping: nanoseconds / 1000)
        append(microseconds / 1000)
        put(".")
        append(microseconds % 1000, digits: 3)
    }

    private mutating func begin(_ name: StaticString) {
        switch form {
        case .json:
            put(",\"")
            put(name)
            put("\":")
        case .text:
            put(" ")
            put(name)
            put("=")
        }
    }

    // MARK: Pieces

    /// Appends a piece of a text; see ``add(_:_:)``.
    package mutating func append(_ piece: String) {
        var piece = piece
        piece.withUTF8 { append(UnsafeRawBufferPointer($0)) }
    }

    private mutating func put(_ piece: StaticString) {
        append(UnsafeRawBufferPointer(start: piece.utf8Start, count: piece.utf8CodeUnitCount))
    }

    package mutating func append(_ number: Int64) {
        if number < 0 { put("-") }
        var rest = number.magnitude
        // Space for the longest 64-bit number.
        var digits: (UInt64, UInt64, UInt64) = (0, 0, 0)
        withUnsafeMutableBytes(of: &digits) { digits in
            var start = digits.count
            repeat {
                start -= 1
                digits[start] = 0x30 + UInt8(truncatingIfNeeded: rest % 10)
                rest /= 10
            } while rest > 0
            append(UnsafeRawBufferPointer(rebasing: digits[start...]))
        }
    }

    package mutating func append(_ bytes: UnsafeRawBufferPointer) {
        guard let start = bytes.baseAddress else { return }
        if longer.isEmpty, bytes.count <= memory.count - count, let free = memory.baseAddress {
            memcpy(free + count, start, bytes.count)
            count += bytes.count
        } else {
            if longer.isEmpty { longer.append(contentsOf: memory[..<count]) }
            longer.append(contentsOf: bytes)
        }
    }

    /// Appends the time in RFC 3339, to the microsecond.
    private mutating func append(_ time: UnixTime) {
        let civil = CivilTime(time)
        append(Int64(civil.year), digits: 4)
        put("-")
        append(Int64(civil.month), digits: 2)
        put("-")
        append(Int64(civil.day), digits: 2)
        put("T")
        append(Int64(civil.hour), digits: 2)
        put(":")
        append(Int64(civil.minute), digits: 2)
        put(":")
        append(Int64(civil.second), digits: 2)
        put(".")
        append(time.microseconds - time.seconds * 1_000_000, digits: 6)
        put("Z")
    }

    /// - Parameter number: not negative, with at most `count` digits; `count` is at most 8.
    private mutating func append(_ number: Int64, digits count: Int) {
        var rest = number
        var digits: UInt64 = 0
        for _ in 0..<count {
            digits = digits << 8 | UInt64(truncatingIfNeeded: 0x30 + rest % 10)
            rest /= 10
        }
        withUnsafeBytes(of: digits.littleEndian) { append(UnsafeRawBufferPointer(rebasing: $0[..<count])) }
    }

    // MARK: Texts

    private mutating func append(text: String, mayHoldBlanks: Bool = false) {
        let start = beginText()
        append(text)
        endText(from: start, mayHoldBlanks: mayHoldBlanks)
    }

    /// - Returns: the offset at which the text begins.
    private mutating func beginText() -> Int {
        if form == .json { put("\"") }
        return length
    }

    /// Escapes the text that was written since `start`, if it needs that.
    private mutating func endText(from start: Int, mayHoldBlanks: Bool) {
        let isPlain = withBytes { bytes in
            let text = UnsafeRawBufferPointer(rebasing: bytes[start...])
            switch form {
            case .json: return text.isPlainText
            case .text:
                // Quotation marks are left out if the text cannot be misread.
                return text.isPlainText && !text.isEmpty && !text.contains(UInt8(ascii: "="))
                    && (mayHoldBlanks || !text.contains(UInt8(ascii: " ")))
            }
        }
        if isPlain {
            if form == .json { put("\"") }
        } else {
            let text = withBytes { String(decoding: $0[start...], as: UTF8.self) }
            truncate(to: form == .json ? start - 1 : start)
            var quoted: [UInt8] = []
            JSONText.quote(text, to: &quoted, escaping: .unprintable)
            quoted.withUnsafeBytes { append($0) }
        }
    }

    private var length: Int { longer.isEmpty ? count : longer.count }

    private mutating func truncate(to length: Int) {
        if longer.isEmpty { count = length } else { longer.removeLast(longer.count - length) }
    }

    private borrowing func withBytes<Result>(_ body: (UnsafeRawBufferPointer) -> Result) -> Result {
        longer.isEmpty ? body(UnsafeRawBufferPointer(rebasing: memory[..<count])) : longer.withUnsafeBytes(body)
    }

    /// Ends the line.
    private consuming func end(_ take: (UnsafeRawBufferPointer) -> Void) {
        if form == .json { put("}") }
        put("\n")
        withBytes(take)
    }
}

extension UnsafeRawBufferPointer {
    /// Whether all bytes are printable ASCII that JSON does not escape. Reads eight at a time, because it is called for every text.
    fileprivate var isPlainText: Bool {
        var offset = 0
        while offset + 8 <= count {
            let word = loadUnaligned(fromByteOffset: offset, as: UInt64.self)
            let suspects =
                word | (word &- Self.all(0x20)) & ~word | Self.zeros(word ^ Self.all(UInt8(ascii: "\"")))
                | Self.zeros(word ^ Self.all(UInt8(ascii: "\\"))) | Self.zeros(word ^ Self.all(0x7F))
            if suspects & Self.all(0x80) != 0 { return false }
            offset += 8
        }
        while offset < count {
            let byte = self[offset]
            if byte < 0x20 || byte > 0x7E || byte == UInt8(ascii: "\"") || byte == UInt8(ascii: "\\") { return false }
            offset += 1
        }
        return true
    }

    private static func all(_ byte: UInt8) -> UInt64 { UInt64(byte) &* 0x0101_0101_0101_0101 }

    /// Returns a number that is 0 if no byte of `word` is 0; otherwise the highest bit of the first such byte is set.
    private static func zeros(_ word: UInt64) -> UInt64 { (word &- all(1)) & ~word }
}
