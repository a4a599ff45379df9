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
