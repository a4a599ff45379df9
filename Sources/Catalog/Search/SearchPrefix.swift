import ObjectFilters

/// The beginnings of words that `object_prefixes` has.
///
/// Of each word some beginnings are stored, and the whole of it up to the longest. A search for any other beginning reads the
/// rows of the next shorter one, and compares.
enum SearchPrefix {
    enum Kind: Int64, Sendable {
        case name = 1
        /// The device and the values of tags.
        case label = 2
        case contentType = 3
    }

    /// In characters (Unicode scalars), ascending.
    static let lengths = [1, 2, 3, 4, 6, 8, 12, 16, 24, 32, 64]

    /// What is stored of a word: in lower case, each once.
    static func stored(of word: String) -> [String] {
        let lowered = word.lowercasedByScalar
        let scalars = lowered.unicodeScalars
        var stored: [String] = []
        var (end, count) = (scalars.startIndex, 0)
        for length in lengths where end < scalars.endIndex {
            end = scalars.index(end, offsetBy: length - count, limitedBy: scalars.endIndex) ?? scalars.endIndex
            count = length
            stored.append(String(lowered[..<end]))
        }
        return stored
    }

    /// What is stored of a content type: `video/` and `video/mp4`, as they are written.
    static func stored(ofContentType type: String) -> [String] {
        guard !type.isEmpty else { return [] }
        guard let range = range(of: type), range != type else { return [type] }
        return [range, type]
    }

    /// The stored beginning that all words have which match.
    static func stored(for pattern: ObjectFilter.Pattern) -> String {
        switch pattern {
        case .text(let text): return cut(text.lowercasedByScalar, to: lengths.last ?? 0)
        case .prefix(let prefix):
            let lowered = prefix.lowercasedByScalar
            let count = lowered.unicodeScalars.count
            return cut(lowered, to: lengths.last { $0 <= count } ?? 0)
        }
    }

    /// The stored beginning of the content types that match; `nil` where the pattern ends before the slash.
    static func stored(forContentType pattern: ObjectFilter.Pattern) -> String? {
        switch pattern {
        case .text(let text): text
        case .prefix(let prefix): range(of: prefix)
        }
    }

    /// `video/` of `video/mp4`.
    private static func range(of type: String) -> String? {
        type.utf8.firstIndex(of: UInt8(ascii: "/")).map { String(type[...$0]) }
    }

    private static func cut(_ text: String, to count: Int) -> String {
        String(String.UnicodeScalarView(text.unicodeScalars.prefix(count)))
    }
}
