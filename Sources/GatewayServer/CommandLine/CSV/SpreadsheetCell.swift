/// A cell of a table as a spreadsheet may be given it.
///
/// One that begins with `= + - @`, a tab or a carriage return would be a formula there, and run (OWASP, "CSV Injection"), so
/// an apostrophe goes before it; one that begins with apostrophes and goes on like that gets one more. What is read is so
/// what was written.
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
