/// An error of the command line.
package struct UsageError: Error, Hashable, CustomStringConvertible {
    /// One sentence without a full stop.
    package let message: String
    /// The words of the intended command, as far as they are known.
    package let path: [String]

    package init(_ message: String, path: [String]) {
        self.message = message
        self.path = path
    }

    package var description: String {
        "\(message)\n\(Self.hint(path))"
    }

    /// Returns the line that names the help page of a command.
    static func hint(_ path: [String]) -> String {
        "Try: \((["data-gateway"] + path + ["--help"]).joined(separator: " "))"
    }
}
