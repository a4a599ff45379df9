/// A name that is valid on every file system and that is shown unchanged: without folders, control characters and invisible
/// characters, and without a meaning of its own to Windows or a shell.
package struct FileName: Sendable, Hashable, CustomStringConvertible {
    /// The longest name in bytes of UTF-8. File systems allow 255; the rest is for suffixes that programs append, e.g. `.partial`.
    package static let longest = 200

    /// The key of the tag in which deployed SDKs send the file's original name with CompleteUpload.
    package static let tagKey = "a206e337ecdf70a93bb611cf6a30c346.raw_file"

    private static let longestExtension = 16
    private static let reserved: Set<String> = {
        let numbered = (0...9).flatMap { ["com\($0)", "lpt\($0)"] }
        return Set(["con", "prn", "aux", "nul"] + numbered)
    }()

    package let text: String

    package var description: String { text }

    /// The text after the last dot, in lower case; empty if there is no dot.
    package var fileExtension: String { Self.extensionRange(of: text).map { text[$0].lowercased() } ?? "" }

    /// Uses the text of a name that ``init(_:)`` produced before, e.g. one from the database.
    package init(verbatim text: String) {
        self.text = text
    }

    /// Makes the nearest valid name: the last path component, with `_` in place of characters that some file system refuses.
    ///
    /// - Returns: `nil` if nothing is left.
    package init?(_ source: some StringProtocol) {
        let component = source.unicodeScalars.split(omittingEmptySubsequences: true) { $0 == "/" || $0 == "\\" }.last
        guard let component else { return nil }
        var kept = String.UnicodeScalarView()
        for scalar in component where !Self.isInvisible(scalar) {
            kept.append("<>:\"|?*".unicodeScalars.contains(scalar) ? "_" : scalar)
        }
        var name = Self.trimmed(kept)
        // A leading dot hides the file, and programs take a leading hyphen for an option.
        if let first = name.unicodeScalars.first, first == "." || first == "-" || first == "~" {
            name = "_" + String(name.unicodeScalars.dropFirst())
        }
        guard name.unicodeScalars.contains(where: { $0 != "_" && $0 != "." && $0 != " " }) else { return nil }
        let stem = name.prefix { $0 != "." }.lowercased()
        if Self.reserved.contains(stem) { name = "_" + name }
        text = Self.shortened(name)
    }

    /// Removes spaces at both ends and dots at the end, which Windows drops.
    private static func trimmed(_ scalars: String.UnicodeScalarView) -> String {
        var rest = scalars[...]
        while let last = rest.last, last == "." || last.properties.isWhitespace { rest.removeLast() }
        while let first = rest.first, first.properties.isWhitespace { rest.removeFirst() }
        return String(rest)
    }

    /// Shortens to at most ``longest`` bytes, before the extension and never within a character.
    private static func shortened(_ name: String) -> String {
        guard name.utf8.count > longest else { return name }
        let tail = extensionRange(of: name).map { "." + name[$0] } ?? ""
        let stem = name.prefix(bytes: longest - tail.utf8.count)
        return trimmed(stem.unicodeScalars) + tail
    }

    private static func extensionRange(of name: String) -> Range<String.Index>? {
        guard let dot = name.lastIndex(byte: "."), dot > name.startIndex else { return nil }
        let range = name.utf8.index(after: dot)..<name.endIndex
        let isExtension = (1...longestExtension).contains(name[range].utf8.count) && !name[range].contains(" ")
        return isExtension ? range : nil
    }

    /// Whether a character is a control, changes the direction of text, or has no width of its own.
    private static func isInvisible(_ scalar: Unicode.Scalar) -> Bool {
        switch scalar.properties.generalCategory {
        case .control, .format, .lineSeparator, .paragraphSeparator, .surrogate, .privateUse: true
        default: scalar.properties.isNoncharacterCodePoint
        }
    }
}
