/// A name that a file can have on every file system and that a screen shows as it is: no directory, no control or invisible
/// character, nothing that Windows or a shell takes for something else.
package struct FileName: Sendable, Hashable, CustomStringConvertible {
    /// Bytes of UTF-8. File systems take 255; the rest is for what programs append, e.g. `.partial`.
    package static let longest = 200

    /// The tag in which the deployed SDKs tell with CompleteUpload what the file was called at its source.
    package static let tagKey = "a206e337ecdf70a93bb611cf6a30c346.raw_file"

    private static let longestExtension = 16
    private static let reserved: Set<String> = {
        let numbered = (0...9).flatMap { ["com\($0)", "lpt\($0)"] }
        return Set(["con", "prn", "aux", "nul"] + numbered)
    }()

    package let text: String

    package var description: String { text }

    /// What stands behind the last dot, lower case; empty where there is none.
    package var fileExtension: String { Self.extensionRange(of: text).map { text[$0].lowercased() } ?? "" }

    /// A name that ``init(_:)`` made before, e.g. one that was stored.
    package init(verbatim text: String) {
        self.text = text
    }

    /// The nearest such name to what somebody called a file: its last path component, with `_` in the place of characters
    /// that some file system refuses.
    ///
    /// - Returns: `nil` where nothing is left.
    package init?(_ source: some StringProtocol) {
        let component = source.unicodeScalars.split(omittingEmptySubsequences: true) { $0 == "/" || $0 == "\\" }.last
        guard let component else { return nil }
        var kept = String.UnicodeScalarView()
        for scalar in component where !Self.isInvisible(scalar) {
            kept.append("<>:\"|?*".unicodeScalars.contains(scalar) ? "_" : scalar)
        }
        var name = Self.trimmed(kept)
        // A leading dot hides the file, a leading hyphen is an option to whatever is given the name.
        if let first = name.unicodeScalars.first, first == "." || first == "-" || first == "~" {
            name = "_" + String(name.unicodeScalars.dropFirst())
        }
        guard name.unicodeScalars.contains(where: { $0 != "_" && $0 != "." && $0 != " " }) else { return nil }
        let stem = name.prefix { $0 != "." }.lowercased()
        if Self.reserved.contains(stem) { name = "_" + name }
        text = Self.shortened(name)
    }

    /// Without spaces at both ends and without dots at the end, which Windows drops.
    private static func trimmed(_ scalars: String.UnicodeScalarView) -> String {
        var rest = scalars[...]
        while let last = rest.last, last == "." || last.properties.isWhitespace { rest.removeLast() }
        while let first = rest.first, first.properties.isWhitespace { rest.removeFirst() }
        return String(rest)
    }

    /// At most ``longest`` bytes, cut before the extension and never within a character.
    private static func shortened(_ name: String) -> String {
        guard name.utf8.count > longest else { return name }
        let tail = extensionRange(of: name).map { "." + name[$0] } ?? ""
        let room = longest - tail.utf8.count
        var stem = ""
        var count = 0
        for character in name {
            count += character.utf8.count
            if count > room { break }
            stem.append(character)
        }
        return trimmed(stem.unicodeScalars) + tail
    }

    private static func extensionRange(of name: String) -> Range<String.Index>? {
        guard let dot = name.lastIndex(of: "."), dot > name.startIndex else { return nil }
        let range = name.index(after: dot)..<name.endIndex
        let isExtension = (1...longestExtension).contains(name[range].utf8.count) && !name[range].contains(" ")
        return isExtension ? range : nil
    }

    /// Controls, marks that change the direction of text, and other characters without a width of their own.
    private static func isInvisible(_ scalar: Unicode.Scalar) -> Bool {
        switch scalar.properties.generalCategory {
        case .control, .format, .lineSeparator, .paragraphSeparator, .surrogate, .privateUse: true
        default: scalar.properties.isNoncharacterCodePoint
        }
    }
}
