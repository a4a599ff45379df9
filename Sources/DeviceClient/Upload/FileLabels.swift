import Basics

/// The labels that a device sends with a file: tags, and the path below the folder that is uploaded.
struct FileLabels: Sendable {
    let tags: [String: String]
    /// `nil` = the file was given itself, or the gateway would not accept its path.
    let relativePath: String?

    /// Returns a name or path that the gateway accepts, with `%09` for a tab: each byte of a control character in hexadecimal.
    static func escaped(_ text: String) -> String {
        guard text.hasControlCharacter() else { return text }
        return text.unicodeScalars.map { scalar in
            guard String(scalar).hasControlCharacter() else { return String(scalar) }
            return String(scalar).utf8.map { "%" + ($0 < 16 ? "0" : "") + String($0, radix: 16, uppercase: true) }
                .joined()
        }.joined()
    }

    /// Returns the path of a file below a folder in the form that the gateway keeps; `nil` for one that it does not accept.
    static func path(_ path: String) -> String? { RelativePath(escaped(path))?.text }
}
