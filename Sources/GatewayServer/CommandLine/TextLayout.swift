/// Text on a terminal.
package enum TextLayout {
    /// Breaks `text` at spaces into lines of at most `width` columns; a longer word has a line of its own.
    ///
    /// - Parameter indentation: columns that every line but the first is moved to the right.
    static func wrapped(_ text: String, width: Int, indentation: Int = 0) -> [String] {
        var lines: [String] = []
        var line = ""
        for word in text.split(separator: " ") {
            if line.isEmpty {
                line = String(word)
            } else if line.count + 1 + word.count <= width {
                line += " \(word)"
            } else {
                lines.append(line)
                line = String(repeating: " ", count: indentation) + word
            }
        }
        return lines + [line]
    }

    /// `1 object`, `2 objects`.
    ///
    /// - Parameter things: the plural, where that is not the singular with an s.
    package static func count(_ number: some BinaryInteger, _ thing: String, _ things: String? = nil) -> String {
        "\(number) \(number == 1 ? thing : things ?? thing + "s")"
    }

    /// Rows of equally many cells, each column as wide as its widest cell, two spaces between them.
    package static func table(_ rows: [[String]]) -> String {
        let rows = rows.map { $0.map(printable) }
        let widths = rows.reduce(into: [Int]()) { widths, row in
            for (column, cell) in row.enumerated() {
                if column == widths.count { widths.append(0) }
                widths[column] = max(widths[column], width(cell))
            }
        }
        return rows.map { row in
            zip(row, widths).enumerated().map { column, cell in
                // Nothing stands behind the last one.
                let padding = column == row.count - 1 ? 0 : cell.1 - width(cell.0)
                return cell.0 + String(repeating: " ", count: padding)
            }.joined(separator: "  ")
        }.joined(separator: "\n")
    }

    /// `text` on one line, with nothing in it that could take hold of the terminal: names and messages come from others.
    package static func printable(_ text: String) -> String {
        guard text.unicodeScalars.contains(where: \.isUnprintable) else { return text }
        return text.unicodeScalars.map { scalar in
            scalar.isUnprintable ? "\\u{\(String(scalar.value, radix: 16))}" : String(scalar)
        }.joined()
    }

    /// Columns that a terminal gives to `text`.
    private static func width(_ text: String) -> Int {
        text.reduce(0) { $0 + ($1.unicodeScalars.contains(where: \.isWide) ? 2 : 1) }
    }
}

extension Unicode.Scalar {
    /// The blocks of Unicode Standard Annex #11 that take two columns.
    fileprivate var isWide: Bool {
        switch value {
        case 0x1100...0x115F, 0x2E80...0x303E, 0x3041...0xA4CF, 0xAC00...0xD7A3, 0xF900...0xFAFF, 0xFE30...0xFE6F,
            0xFF00...0xFF60, 0xFFE0...0xFFE6, 0x1F300...0x1FAFF, 0x20000...0x3FFFD:
            true
        default: false
        }
    }
}
