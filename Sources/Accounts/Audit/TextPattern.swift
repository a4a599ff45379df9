/// A text in which `*` stands for any text.
struct TextPattern: Sendable, Hashable {
    let text: String
    private let parts: [Substring]

    init(_ text: String) {
        self.text = text
        parts = text.split(separator: "*", omittingEmptySubsequences: false)
    }

    var wildcardCount: Int { parts.count - 1 }

    func matches(_ text: String) -> Bool {
        guard let first = parts.first, let last = parts.last, parts.count > 1 else { return text == self.text }
        guard text.hasPrefix(first), text.utf8.count >= first.utf8.count + last.utf8.count else { return false }
        var rest = text[...].dropFirst(first.count)
        for part in parts.dropFirst().dropLast() where !part.isEmpty {
            guard let found = rest.firstRange(of: part) else { return false }
            rest = rest[found.upperBound...]
        }
        return rest.hasSuffix(last)
    }

    /// The pattern for LIKE with the escape character `\`.
    var likePattern: String {
        var pattern = ""
        for character in text.unicodeScalars {
            switch character {
            case "*": pattern.append("%")
            case "%", "_", "\\": pattern += "\\\(character)"
            default: pattern.unicodeScalars.append(character)
            }
        }
        return pattern
    }
}
