/// The comments of `.proto` files, by full name.
struct APIComments: Sendable {
    private let texts: [String: String]

    /// - Parameter lines: on each line a full name, a tab and the text.
    init(_ lines: String) {
        var texts: [String: String] = [:]
        for line in lines.split(separator: "\n") {
            let parts = line.split(separator: "\t", maxSplits: 1)
            if parts.count == 2 { texts[String(parts[0])] = String(parts[1]) }
        }
        self.texts = texts
    }

    subscript(name: String) -> String? { texts[name] }

    /// The first sentence.
    func summary(_ name: String) -> String? {
        guard let text = texts[name] else { return nil }
        guard let end = text.firstRange(of: ". ") else { return text }
        return String(text[..<end.upperBound].dropLast())
    }

    /// What the comment shows in backquotes first: an example, where the field is a text.
    func quoted(_ name: String) -> String? {
        guard let parts = texts[name]?.split(separator: "`", maxSplits: 2, omittingEmptySubsequences: false),
            parts.count == 3
        else {
            return nil
        }
        return String(parts[1])
    }
}
