/// What is wrong with a command line.
struct UsageError: Error, Hashable, CustomStringConvertible {
    /// One sentence without a full stop.
    let message: String
    /// The words of the command that was meant, as far as they are known.
    let path: [String]

    init(_ message: String, path: [String]) {
        self.message = message
        self.path = path
    }

    var description: String {
        "\(message)\nTry: \((["data-gateway"] + path + ["--help"]).joined(separator: " "))"
    }
}
