import Glibc

/// One line of a log while it is written, straight into memory that its writer lends: most lines cost no allocation. Nothing
/// in a text can end the line, or take hold of a terminal.
package struct LogLine: ~Copyable {
    /// How a line looks.
    package enum Form: Sendable {
        /// A JSON object.
        case json
        /// For people: `2026-11-21T08:00:00.123456Z info    call method=/a.B/C code=OK`.
        case text
    }

    /// Bytes of memory that most lines fit in.
    package static let usualSize = 1024

    private let form: Form
    private let room: UnsafeMutableRawBufferPointer
    private var count = 0
    /// All of a line that is longer than the room.
    private var longer: [UInt8] = []

    /// - Parameters:
    ///   - time: when it happened; `nil` = the line does not say.
    ///   - room: memory for the line, which outlives it.
    init(
        _ level: LogLevel, _ event: String, at time: UnixTime?, as form: Form, in room: UnsafeMutableRawBufferPointer
    ) {
        self.form = form
        self.room = room
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
            // The longest is `warning`.
            for _ in level.rawValue.utf8.count..<8 { put(" ") }
            append(text: event, mayHoldBlanks: true)
        }
    }

    /// Writes a line into memory that lasts for the call.
    ///
    /// - Parameter take: is given the line's bytes, with its end; they are valid during the call only.
    package static func write(
        _ level: LogLevel, _ event: String, at time: UnixTime?, as form: Form, _ fields: (inout LogLine) -> Void,
        to take: (UnsafeRawBufferPointer) -> Void
    ) {
        withUnsafeTemporaryAllocation(byteCount: usualSize, alignment: 8) { room in
            var line = LogLine(level, event, at: time, as: form, in: room)
            fields(&line)
            line.end(take)
        }
    }

    // MARK: fields

    package mutating func add(_ name: StaticString, _ text: String) {
        begin(name)
        append(text: text)
    }

    /// Nothing where there is no text.
    package mutating func add(_ name: StaticString, _ text: String?) {
        if let text { add(name, text) }
    }

    /// A text that is written piece by piece.
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

    /// Nothing where there is no number.
    package mutating func add(_ name: StaticString, _ number: Int64?) {
        if let number { add(name, number) }
    }

    /// Milliseconds with three digits behind the point.
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

    // MARK: pieces

    /// A piece of a text; see ``add(_:_:)``.
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
        // The most digits that a number of 64 bits has.
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
        if longer.isEmpty, bytes.count <= room.count - count, let free = room.baseAddress {
            memcpy(free + count, start, bytes.count)
            count += bytes.count
        } else {
            if longer.isEmpty { longer.append(contentsOf: room[..<count]) }
            longer.append(contentsOf: bytes)
        }
    }

    /// RFC 3339, to the microsecond.
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

    /// - Parameter number: from 0 on, with at most `count` digits, which are at most 8.
    private mutating func append(_ number: Int64, digits count: Int) {
        var rest = number
        var digits: UInt64 = 0
        for _ in 0..<count {
            digits = digits << 8 | UInt64(truncatingIfNeeded: 0x30 + rest % 10)
            rest /= 10
        }
        withUnsafeBytes(of: digits.littleEndian) { append(UnsafeRawBufferPointer(rebasing: $0[..<count])) }
    }

    // MARK: texts

    private mutating func append(text: String, mayHoldBlanks: Bool = false) {
        let start = beginText()
        append(text)
        endText(from: start, mayHoldBlanks: mayHoldBlanks)
    }

    /// - Returns: where the text begins.
    private mutating func beginText() -> Int {
        if form == .json { put("\"") }
        return length
    }

    /// Looks at the text that was written, and writes it again where something in it has to be escaped.
    private mutating func endText(from start: Int, mayHoldBlanks: Bool) {
        let isPlain = withBytes { bytes in
            let text = UnsafeRawBufferPointer(rebasing: bytes[start...])
            switch form {
            case .json: return text.isPlainText
            case .text:
                // Without quotation marks where it cannot be misread.
                return text.isPlainText && !text.isEmpty && !text.contains(UInt8(ascii: "="))
                    && (mayHoldBlanks || !text.contains(UInt8(ascii: " ")))
            }
        }
        if isPlain {
            if form == .json { put("\"") }
        } else {
            let text = withBytes { String(decoding: $0[start...], as: UTF8.self) }
            truncate(to: form == .json ? start - 1 : start)
            append(JSONValue.string(text).text)
        }
    }

    private var length: Int { longer.isEmpty ? count : longer.count }

    private mutating func truncate(to length: Int) {
        if longer.isEmpty { count = length } else { longer.removeLast(longer.count - length) }
    }

    private borrowing func withBytes<Result>(_ body: (UnsafeRawBufferPointer) -> Result) -> Result {
        longer.isEmpty ? body(UnsafeRawBufferPointer(rebasing: room[..<count])) : longer.withUnsafeBytes(body)
    }

    /// Ends the line.
    private consuming func end(_ take: (UnsafeRawBufferPointer) -> Void) {
        if form == .json { put("}") }
        put("\n")
        withBytes(take)
    }
}

extension UnsafeRawBufferPointer {
    /// Whether all bytes are printable ASCII that JSON does not escape. Eight at a time: every line's texts are looked at.
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

    /// A number whose highest bits are set in the first byte of `word` that is 0, and in none where no byte is.
    private static func zeros(_ word: UInt64) -> UInt64 { (word &- all(1)) & ~word }
}
