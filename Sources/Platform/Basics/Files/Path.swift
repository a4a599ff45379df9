/// Splits paths into folder and name. (Foundation's functions trap on a name of one character.)
package enum Path {
    private static let slash = UInt8(ascii: "/")

    /// Returns the path without its last name: `/a` for `/a/b`, empty for a name alone.
    package static func folder(of path: String) -> String {
        let path = trimmed(path[...])
        guard let slash = path.lastIndex(byte: "/") else { return "" }
        return String(trimmed(path[..<path.utf8.index(after: slash)]))
    }

    /// Returns the path of another name in the same folder.
    package static func sibling(_ name: String, of path: String) -> String {
        let folder = folder(of: path)
        return folder.isEmpty || folder == "/" ? folder + name : "\(folder)/\(name)"
    }

    /// Returns the last name: `b` for `/a/b`.
    package static func name(of path: String) -> String {
        let path = trimmed(path[...])
        return String(path.halves(atLast: "/").second ?? path)
    }

    /// Splits a path before the extension of its last name, which includes the dot: `a/b` and `.mcap`. The extension is empty if
    /// there is no dot after the first character of the name.
    package static func extended(_ path: String) -> (stem: String, extension: String) {
        let start = path.lastIndex(byte: "/").map { path.utf8.index(after: $0) } ?? path.startIndex
        guard let dot = path[start...].lastIndex(byte: "."), dot > start else { return (path, "") }
        return (String(path[..<dot]), String(path[dot...]))
    }

    /// Removes slashes at the end, except the root's.
    private static func trimmed(_ path: Substring) -> Substring {
        var path = path
        while path.utf8.last == slash, path.utf8.count > 1 { path = Substring(path.utf8.dropLast()) }
        return path
    }
}

/// The path of a file below a folder: names separated by slashes, such as `run 7/metadata.yaml`. It cannot lead out of the folder.
package struct RelativePath: Sendable, Hashable, CustomStringConvertible {
    /// The longest path in bytes of UTF-8.
    package static let longest = 1024
    /// The largest number of names.
    package static let deepest = 32
    /// The longest name in bytes of UTF-8, which is the limit of file systems.
    package static let longestName = 255

    package let text: String

    package var description: String { text }

    /// The names of the folders and of the file.
    package var names: [String] { text.split(byte: "/") }

    /// Uses the text of a path that was checked before, e.g. one from the database.
    package init(verbatim text: String) { self.text = text }

    /// - Returns: `nil` if the text breaks ``rule``.
    package init?(_ text: String) {
        let names = text.utf8.split(separator: UInt8(ascii: "/"), omittingEmptySubsequences: false)
        let isValid =
            text.utf8.count <= Self.longest && names.count <= Self.deepest && !text.hasControlCharacter()
            && names.allSatisfy { name in
                (1...Self.longestName).contains(name.count) && !name.elementsEqual(".".utf8)
                    && !name.elementsEqual("..".utf8)
            }
        guard isValid else { return nil }
        self.text = text
    }

    /// The rule for paths: the rest of a sentence that begins with the field's name.
    package static let rule =
        "must be a relative path of at most \(longest) bytes and \(deepest) names, without \".\", \"..\", empty names and"
        + " control characters"
}
