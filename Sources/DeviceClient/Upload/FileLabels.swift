import Basics

/// The labels that a device sends with a file: tags, and the path below the folder that is uploaded.
package struct FileLabels: Sendable {
    let tags: [String: String]
    /// `nil` = the file was given itself, or the gateway would not accept its path.
    let relativePath: String?

    /// Returns a name or path that the gateway accepts, with `%09` for a tab: each byte of a control character in hexadecimal.
    static func escaped(_ text: String) -> String {
        guard text.hasControlCharacter() else { return text }
        var escaped: [UInt8] = []
        for scalar in text.unicodeScalars.map(String.init) {
            if scalar.hasControlCharacter() {
                for byte in scalar.utf8 { PercentEscapes.append(byte, to: &escaped) }
            } else {
                escaped += scalar.utf8
            }
        }
        return String(decoding: escaped, as: UTF8.self)
    }

    /// Returns the name of a file's object; `nil` if the gateway has to make one, because nothing of the file's name is left.
    package static func storedName(ofFile path: String) -> String? { FileName(escaped(Path.name(of: path)))?.text }

    /// The difference between a file and its object as people see them, as a sentence without a full stop; `nil` without a difference.
    ///
    /// - Parameter relativePath: the path below the folder that is uploaded; `nil` = the file was given itself.
    package static func change(of file: String, relativePath: String?) -> String? {
        let name = Path.name(of: file)
        let stored = storedName(ofFile: file)
        let kept = relativePath.flatMap(Self.path)
        let isPathLost = relativePath?.contains("/") == true && kept == nil
        let isPathChanged = kept != nil && kept != relativePath
        guard stored != name || isPathLost || isPathChanged else { return nil }
        var parts: [String] = []
        if stored != name { parts.append(stored.map { "as \"\($0)\"" } ?? "under a name that the gateway makes") }
        if isPathLost {
            parts.append(
                """
                without its path, which has more than \(RelativePath.longest) bytes or \(RelativePath.deepest) names
                """)
        } else if isPathChanged, let kept {
            parts.append("under the path \"\(kept)\"")
        }
        let path = isPathLost || isPathChanged ? nil : kept
        return "\(file) is stored \(parts.joined(separator: " and "))"
            + (path.map { "; its path stays \"\($0)\"" } ?? "")
    }

    /// Returns the path of a file below a folder in the form that the gateway keeps; `nil` for one that it does not accept.
    static func path(_ path: String) -> String? { RelativePath(escaped(path))?.text }
}
