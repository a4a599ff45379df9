/// The lines of Swift code, with the indentation of their blocks.
struct CodeWriter {
    private(set) var text = ""
    private var depth = 0

    mutating func line(_ line: String = "") {
        if !line.isEmpty { text += String(repeating: "    ", count: depth) + line }
        text += "\n"
    }

    mutating func lines(_ lines: [String]) {
        for each in lines { line(each) }
    }

    /// Writes `header {`, the output of `body`, and `}`.
    mutating func block(_ header: String, _ body: (inout CodeWriter) throws(PluginError) -> Void) throws(PluginError) {
        line("\(header) {")
        depth += 1
        try body(&self)
        depth -= 1
        line("}")
    }
}
