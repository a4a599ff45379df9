/// Text on a terminal.
enum TextLayout {
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
}
