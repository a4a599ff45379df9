import Basics

/// A line of a CSV file.
package struct CSVRecord: Sendable, Hashable {
    /// The number of its first line, from 1; a quoted field may extend over several lines.
    package let line: Int
    package let fields: [String]
}

/// A syntax error in a CSV text.
package struct CSVError: Error, Hashable {
    package let line: Int
    /// The reason, without a full stop.
    package let message: String
}

/// Reads CSV in the format of RFC 4180, section 2, and of spreadsheets: with a byte order mark, with line feeds as line ends, with
/// or without a final line end. Empty lines are skipped. UTF-8 only.
package struct CSVReader {
    private enum Byte {
        static let quote = UInt8(ascii: "\"")
        static let comma = UInt8(ascii: ",")
        static let carriageReturn = UInt8(ascii: "\r")
        static let lineFeed = UInt8(ascii: "\n")
    }

    private static let byteOrderMark: [UInt8] = [0xEF, 0xBB, 0xBF]

    private let bytes: [UInt8]
    private var position: Int
    private var line = 1

    package init(_ bytes: [UInt8]) {
        self.bytes = bytes
        position = bytes.starts(with: Self.byteOrderMark) ? Self.byteOrderMark.count : 0
    }

    /// Returns the next record; `nil` at the end.
    package mutating func next() throws(CSVError) -> CSVRecord? {
        while let record = try record() {
            if record.fields != [""] { return record }
        }
        return nil
    }

    private mutating func record() throws(CSVError) -> CSVRecord? {
        guard position < bytes.count else { return nil }
        let start = line
        var fields: [String] = []
        repeat { fields.append(try field()) } while take(Byte.comma)
        try endLine()
        return CSVRecord(line: start, fields: fields)
    }

    private mutating func field() throws(CSVError) -> String {
        let start = line
        let content = take(Byte.quote) ? try quoted() : bare()
        guard let text = String(validating: content, as: UTF8.self) else {
            throw CSVError(line: start, message: "is not valid UTF-8")
        }
        return text
    }

    /// Reads to the comma or the end of the line. A quotation mark inside is an ordinary character: a field is quoted from its
    /// beginning, or not at all.
    private mutating func bare() -> [UInt8] {
        let start = position
        while let byte = peek, byte != Byte.comma, byte != Byte.lineFeed, byte != Byte.carriageReturn { position += 1 }
        return Array(bytes[start..<position])
    }

    private mutating func quoted() throws(CSVError) -> [UInt8] {
        let start = line
        var content: [UInt8] = []
        while let byte = peek {
            position += 1
            if byte == Byte.quote, !take(Byte.quote) { return content }
            if byte == Byte.lineFeed { line += 1 }
            content.append(byte)
        }
        throw CSVError(line: start, message: "the closing quote is missing")
    }

    private mutating func endLine() throws(CSVError) {
        let hasReturn = take(Byte.carriageReturn)
        if take(Byte.lineFeed) {
            line += 1
        } else if hasReturn {
            throw CSVError(line: line, message: "a carriage return must be followed by a line feed")
        } else if position < bytes.count {
            throw CSVError(line: line, message: "a closing quote must be followed by a comma or the end of the line")
        }
    }

    private var peek: UInt8? { position < bytes.count ? bytes[position] : nil }

    private mutating func take(_ byte: UInt8) -> Bool {
        guard peek == byte else { return false }
        position += 1
        return true
    }
}

/// Writes CSV in the format of RFC 4180, but with line feeds as line ends.
package enum CSVWriter {
    package static func text(_ records: [[String]]) -> String {
        records.map { $0.map(field).joined(separator: ",") }.joined(separator: "\n")
    }

    private static func field(_ text: String) -> String {
        let needsQuotes = text.utf8.contains { ",\"\r\n".utf8.contains($0) }
        guard needsQuotes else { return text }
        return "\"\(text.replacing(bytes: ["\"": "\"\""]))\""
    }
}

/// A cell's text in a form that is safe for spreadsheets.
///
/// A text that begins with `= + - @`, a tab or a carriage return would be executed as a formula (OWASP, "CSV Injection"), so an
/// apostrophe is put before it; a text of such a form after leading apostrophes gets one more. Reading reverses this exactly.
package enum SpreadsheetCell {
    package static func cell(of text: String) -> String { isFormulaBehindApostrophes(text) ? "'" + text : text }

    package static func text(of cell: String) -> String {
        cell.utf8.first == apostrophe && isFormulaBehindApostrophes(cell) ? String(cell.dropFirst()) : cell
    }

    private static let apostrophe = UInt8(ascii: "'")

    private static func isFormulaBehindApostrophes(_ text: String) -> Bool {
        text.utf8.first { $0 != apostrophe }.map("=+-@\t\r".utf8.contains) ?? false
    }
}
