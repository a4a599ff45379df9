import Basics

/// The layout of text for a terminal.
package enum TextLayout {
    /// Breaks `text` at spaces into lines of at most `width` columns; a longer word has a line of its own.
    ///
    /// - Parameter indentation: columns by which every line but the first is indented.
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

    /// Returns e.g. `1 object`, `2 objects`.
    ///
    /// - Parameter things: the plural, if it is not the singular with an s.
    package static func count(_ number: some BinaryInteger, _ thing: String, _ things: String? = nil) -> String {
        "\(number) \(number == 1 ? thing : things ?? thing + "s")"
    }

    /// Returns the rows as a table: all have the same number of cells, each column is as wide as its widest cell, and two spaces
    /// separate columns.
    ///
    /// - Parameters:
    ///   - width: the number of columns of the terminal; `nil` = unlimited.
    ///   - shortening: the numbers of the columns whose cells may be cut off so that the table fits.
    package static func table(_ rows: [[String]], width: Int? = nil, shortening: Set<Int> = []) -> String {
        var rows = rows.map { $0.map(printable) }
        var widths = widths(of: rows)
        if let limit = width {
            widths = fitting(widths, into: limit, shortening: shortening)
            rows = rows.map { row in zip(row, widths).map { cut($0, to: $1) } }
        }
        return rows.map { row in
            zip(row, widths).enumerated().map { column, cell in
                // The last column is not padded.
                let padding = column == row.count - 1 ? 0 : cell.1 - Self.width(cell.0)
                return cell.0 + String(repeating: " ", count: padding)
            }.joined(separator: "  ")
        }.joined(separator: "\n")
    }

    /// Returns the number of columns that a table needs at least.
    static func leastWidth(_ rows: [[String]], shortening: Set<Int>) -> Int {
        let widths = widths(of: rows.map { $0.map(printable) }).enumerated().map { column, width in
            shortening.contains(column) ? min(width, narrowest) : width
        }
        return widths.reduce(0, +) + 2 * max(0, widths.count - 1)
    }

    /// The smallest width to which a column is shortened.
    private static let narrowest = 10

    /// Shortens the widest of the columns again and again, until the table fits or none can be shortened.
    private static func fitting(_ widths: [Int], into limit: Int, shortening: Set<Int>) -> [Int] {
        var widths = widths
        var excess = widths.reduce(0, +) + 2 * max(0, widths.count - 1) - limit
        while excess > 0 {
            let candidates = shortening.filter { $0 < widths.count && widths[$0] > narrowest }
            guard let widest = candidates.max(by: { (widths[$0], $1) < (widths[$1], $0) }) else { break }
            let next = candidates.filter { $0 != widest }.map { widths[$0] }.max() ?? narrowest
            let less = min(excess, max(1, widths[widest] - max(next, narrowest)))
            widths[widest] -= less
            excess -= less
        }
        return widths
    }

    /// Returns the beginning of a text with an ellipsis, if it is wider than the limit.
    private static func cut(_ text: String, to limit: Int) -> String {
        guard width(text) > limit else { return text }
        var (kept, used) = ("", 0)
        for character in text {
            let more = width(String(character))
            guard used + more <= limit - 1 else { break }
            kept.append(character)
            used += more
        }
        return kept + "…"
    }

    private static func widths(of rows: [[String]]) -> [Int] {
        rows.reduce(into: []) { widths, row in
            for (column, cell) in row.enumerated() {
                if column == widths.count { widths.append(0) }
                widths[column] = max(widths[column], width(cell))
            }
        }
    }

    /// Returns `text` on one line without control characters, which could manipulate the terminal: names and messages come from
    /// others.
    package static func printable(_ text: String) -> String {
        guard text.unicodeScalars.contains(where: \.isUnprintable) else { return text }
        return text.unicodeScalars.map { scalar in
            scalar.isUnprintable ? "\\u{\(String(scalar.value, radix: 16))}" : String(scalar)
        }.joined()
    }

    /// Returns the number of columns that a terminal uses for `text`.
    private static func width(_ text: String) -> Int {
        text.reduce(0) { $0 + ($1.unicodeScalars.contains(where: \.isWide) ? 2 : 1) }
    }
}

extension Unicode.Scalar {
    /// Whether the scalar is in a block of Unicode Standard Annex #11 that takes two columns.
    fileprivate var isWide: Bool {
        switch value {
        case 0x1100...0x115F, 0x2E80...0x303E, 0x3041...0xA4CF, 0xAC00...0xD7A3, 0xF900...0xFAFF, 0xFE30...0xFE6F,
            0xFF00...0xFF60, 0xFFE0...0xFFE6, 0x1F300...0x1FAFF, 0x20000...0x3FFFD:
            true
        default: false
        }
    }
}
