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

/// What somebody may have meant.
enum Suggestion {
    /// The one of `names` that is nearest to `word`, as `; did you mean X?`, or nothing where none is near.
    static func text(for word: String, among names: [String]) -> String {
        let nearest = names.map { (name: $0, distance: EditDistance.between($0, word)) }
            .min { $0.distance < $1.distance }
        // More slips than that make another word.
        guard let nearest, nearest.distance <= min(3, nearest.name.count / 2) else { return "" }
        return "; did you mean \(nearest.name)?"
    }
}
