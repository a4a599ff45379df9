import Basics

/// Replaces what may be a secret in a text: passwords in URLs, query strings, the values of header fields that sign in, values after a
/// name of a secret, and words that begin like one. Names may have ASCII letters of either case.
///
/// The rules are code: Foundation's regular expressions need ICU, which would be more than half of the program, and those of the
/// standard library take seconds for a log.
struct SecretScrubber {
    /// A secret in a text, and what replaces it.
    private struct Match {
        let secret: Range<Int>
        var replacement = "***"
    }

    /// Returns the match whose context, such as a name, begins at a place of the text.
    private typealias Rule = @Sendable (SecretScrubber, Int) -> Match?

    /// In the order of their use.
    private static let rules: [Rule] = [
        { $0.userInformation(at: $1) },
        { $0.query(at: $1) },
        { text, place in text.field(at: place).flatMap { text.quoted($0, isQuotedName: true) } },
        { text, place in text.field(at: place).flatMap { text.restOfLine($0) } },
        { text, place in text.secretName(at: place).flatMap { text.quoted($0) } },
        { text, place in text.secretName(at: place).flatMap { text.word($0) } },
        { $0.bearer(at: $1) },
        { $0.token(at: $1) },
    ]

    /// The words for a secret, one of which is in the name of its value.
    private static let secretWords = [
        "password", "passwd", "passphrase", "secret", "token", "signature", "credential", "apikey", "api_key",
        "api-key",
        "accesskey", "access_key", "access-key", "privatekey", "private_key", "private-key",
    ].map { Array($0.unicodeScalars) }

    private static let scheme = Array("://".unicodeScalars)
    private static let fields = ["cookie", "authorization"].map { Array($0.unicodeScalars) }
    private static let bearer = Array("bearer".unicodeScalars)
    private static let tokenPrefixes = TokenPrefix.allCases.map { Array($0.rawValue.unicodeScalars) }

    private var text: [Unicode.Scalar]

    /// Returns the text without secrets.
    static func scrubbed(_ text: String) -> String {
        var scrubber = SecretScrubber(text: Array(text.unicodeScalars))
        for rule in rules { scrubber.text = scrubber.applying(rule) }
        var result = String.UnicodeScalarView()
        result.append(contentsOf: scrubber.text)
        return String(result)
    }

    private func applying(_ rule: Rule) -> [Unicode.Scalar] {
        var output: [Unicode.Scalar] = []
        output.reserveCapacity(text.count)
        var place = 0
        while place < text.count {
            if let match = rule(self, place) {
                output += text[place..<match.secret.lowerBound]
                output += match.replacement.unicodeScalars
                place = match.secret.upperBound
            } else {
                output.append(text[place])
                place += 1
            }
        }
        return output
    }
}

/// The rules, by what they find.
extension SecretScrubber {
    /// `scheme://user:password@host`, from the colon.
    private func userInformation(at place: Int) -> Match? {
        guard let start = end(of: Self.scheme, at: place) else { return nil }
        let scheme = text[..<place].reversed().prefix { $0.isASCIIAlphanumeric || "+.-".unicodeScalars.contains($0) }
        guard scheme.contains(where: \.isASCIILetter) else { return nil }
        let end = end(from: start) { !$0.properties.isWhitespace && !#"/@"'<>"#.unicodeScalars.contains($0) }
        return end > start && has("@", at: end) ? Match(secret: start..<end) : nil
    }

    /// `?parameters` after an address.
    private func query(at place: Int) -> Match? {
        guard has("?", at: place), place > 0, !text[place - 1].properties.isWhitespace else { return nil }
        let end = end(from: place + 1) { !$0.properties.isWhitespace && !#""'<>"#.unicodeScalars.contains($0) }
        return end > place + 1 ? Match(secret: place + 1..<end) : nil
    }

    private func bearer(at place: Int) -> Match? {
        guard let name = end(of: Self.bearer, at: place) else { return nil }
        let start = end(from: name, while: \.isSpaceOrTab)
        let end = end(from: start) { !$0.properties.isWhitespace && !#""',;"#.unicodeScalars.contains($0) }
        return start > name && end > start ? Match(secret: start..<end) : nil
    }

    /// A word that begins like a token of the gateway; its case counts.
    private func token(at place: Int) -> Match? {
        guard place == 0 || !text[place - 1].isASCIIAlphanumeric else { return nil }
        guard let prefix = Self.tokenPrefixes.first(where: { text[place...].starts(with: $0) }) else { return nil }
        let end = end(from: place + prefix.count) {
            $0.isASCIIAlphanumeric || "+/=_.-".unicodeScalars.contains($0)
        }
        return Match(secret: place..<end)
    }

    /// Returns the end of the name of a header field that signs in.
    private func field(at place: Int) -> Int? {
        Self.fields.lazy.compactMap { end(of: $0, at: place) }.first
    }

    /// Returns the end of the name of a secret, such as `password` or `secret_access_key`.
    private func secretName(at place: Int) -> Int? {
        guard text[place].isOfName, place == 0 || !text[place - 1].isOfName else { return nil }
        let end = end(from: place, while: \.isOfName)
        return (place..<end).contains { start in Self.secretWords.contains { self.end(of: $0, at: start) != nil } }
            ? end : nil
    }
}

/// The values after a name.
extension SecretScrubber {
    /// A value in quotes with escapes, as in JSON, which may end with the line.
    ///
    /// - Parameter isQuotedName: whether the name must end with a quote, too.
    private func quoted(_ name: Int, isQuotedName: Bool = false) -> Match? {
        guard !isQuotedName || has("\"", at: name) else { return nil }
        guard let start = value(after: isQuotedName ? name + 1 : endOfQuotes(name)), has("\"", at: start) else {
            return nil
        }
        var end = start + 1
        while end < text.count, text[end] != "\"", text[end] != "\r", text[end] != "\n" {
            if text[end] == "\\" {
                guard end + 1 < text.count, !text[end + 1].isLineEnd else { break }
                end += 1
            }
            end += 1
        }
        return Match(secret: start..<(has("\"", at: end) ? end + 1 : end), replacement: "\"***\"")
    }

    /// A value of a header field, which has spaces and ends with a quote or the line.
    private func restOfLine(_ name: Int) -> Match? {
        guard let start = value(after: name), start < text.count, !text[start].properties.isWhitespace else {
            return nil
        }
        let end = end(from: start) { $0 != "\"" && $0 != "\r" && $0 != "\n" }
        return end > start ? Match(secret: start..<end) : nil
    }

    /// A value without quotes and spaces.
    private func word(_ name: Int) -> Match? {
        guard let start = value(after: endOfQuotes(name)) else { return nil }
        let end = end(from: start) {
            !$0.properties.isWhitespace && !#""',;&(){}[]<>"#.unicodeScalars.contains($0)
        }
        return end > start ? Match(secret: start..<end) : nil
    }

    /// Returns the beginning of what follows a colon or an equals sign.
    private func value(after name: Int) -> Int? {
        let separator = end(from: name, while: \.isSpaceOrTab)
        guard has(":", at: separator) || has("=", at: separator) else { return nil }
        return end(from: separator + 1, while: \.isSpaceOrTab)
    }

    /// Returns the end of the quotes after a name.
    private func endOfQuotes(_ name: Int) -> Int {
        let end = has("\"", at: name) ? name + 1 : name
        return has("'", at: end) ? end + 1 : end
    }

    private func has(_ scalar: Unicode.Scalar, at place: Int) -> Bool { place < text.count && text[place] == scalar }

    /// Returns the first place that such scalars do not reach.
    private func end(from place: Int, while belongs: (Unicode.Scalar) -> Bool) -> Int {
        text[place...].firstIndex { !belongs($0) } ?? text.count
    }

    /// Returns the end of a lowercase word that the text has at a place in either case.
    private func end(of word: [Unicode.Scalar], at place: Int) -> Int? {
        guard place + word.count <= text.count else { return nil }
        for (offset, scalar) in word.enumerated() where text[place + offset].asciiLowercased != scalar { return nil }
        return place + word.count
    }
}

extension Unicode.Scalar {
    fileprivate var isASCIILetter: Bool { UInt8(exactly: value)?.isASCIILetter == true }
    fileprivate var isASCIIAlphanumeric: Bool { UInt8(exactly: value)?.isASCIIAlphanumeric == true }
    fileprivate var asciiLowercased: Unicode.Scalar { UInt8(exactly: value).map { Self($0.asciiLowercased) } ?? self }
    fileprivate var isSpaceOrTab: Bool { self == " " || self == "\t" }
    /// Whether it may be part of a name of a value.
    fileprivate var isOfName: Bool { isASCIIAlphanumeric || self == "_" || self == "." || self == "-" }

    /// Whether an escape ends before it.
    fileprivate var isLineEnd: Bool {
        switch value {
        case 0x0A...0x0D, 0x85, 0x2028, 0x2029: true
        default: false
        }
    }
}
