/// Writes CSV in the format of RFC 4180, but with line feeds as line ends.
package enum CSVWriter {
    package static func text(_ records: [[String]]) -> String {
        records.map { $0.map(field).joined(separator: ",") }.joined(separator: "\n")
    }

    private static func field(_ text: String) -> String {
        let needsQuotes = text.utf8.contains { ",\"\r\n".utf8.contains($0) }
        return needsQuotes ? "\"\(text.replacing("\"", with: "\"\""))\"" : text
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
