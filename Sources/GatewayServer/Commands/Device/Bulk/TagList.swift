/// The tags in one cell of a table: `KEY=VALUE;KEY=VALUE`.
///
/// A backslash escapes the next character: a semicolon, an equals sign in a key, a space before a key, and the backslash itself.
enum TagList {
    struct Problem: Error, Hashable {
        /// The reason, without a full stop.
        let message: String
    }

    static func tags(_ text: String) throws(Problem) -> [String: String] {
        var tags: [String: String] = [:]
        var key: String?
        var word = ""
        var isEscaped = false

        func add() throws(Problem) {
            guard let key else {
                if word.isEmpty { return }
                throw Problem(message: "must be KEY=VALUE;KEY=VALUE, not '\(word)'")
            }
            guard tags.updateValue(word, forKey: key) == nil else {
                throw Problem(message: "has the tag \(key) twice")
            }
        }

        for character in text.unicodeScalars {
            switch character {
            case _ where isEscaped:
                word.unicodeScalars.append(character)
                isEscaped = false
            case "\\":
                isEscaped = true
            case ";":
                try add()
                (key, word) = (nil, "")
            case "=" where key == nil:
                (key, word) = (word, "")
            case " " where key == nil && word.isEmpty:
                break
            default:
                word.unicodeScalars.append(character)
            }
        }
        guard !isEscaped else { throw Problem(message: "ends with a backslash") }
        try add()
        return tags
    }

    /// Returns the text of the tags, sorted by key, so that equal tags have equal texts.
    static func text(_ tags: [String: String]) -> String {
        tags.sorted { $0.key < $1.key }.map { "\(escaped($0.key, ";=\\ "))=\(escaped($0.value, ";\\"))" }
            .joined(separator: ";")
    }

    private static func escaped(_ text: String, _ special: String) -> String {
        var result = ""
        for scalar in text.unicodeScalars {
            if special.unicodeScalars.contains(scalar) { result += "\\" }
            result.unicodeScalars.append(scalar)
        }
        return result
    }
}
