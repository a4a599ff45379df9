import Basics

/// The search for objects by a part of their name, or by their folder.
struct NameSearch {
    /// The field of the filter's only term, `name` or `path`; `nil` = the filter is a word.
    private let field: String?
    private let isQuoted: Bool
    private let value: Substring

    /// Returns the end of a message that nothing was found: `WORD*` finds the beginning of a name only, `name:WORD` the whole name,
    /// `path:FOLDER` no file in the folder, and after `name=` a `*` is a character like others. Empty for other filters, and if the
    /// name was searched everywhere, as by a word.
    static func advice(for filter: String) -> String {
        guard let search = NameSearch(filter) else { return "" }
        return "; \(search.advice)"
    }

    /// Returns the sentence that no object matches a filter.
    static func nothing(matches filter: String, inTrash: Bool = false) -> String {
        "no object\(inTrash ? " in the trash" : "") matches the filter \(filter)\(advice(for: filter))"
    }

    /// - Returns: `nil` if there is no advice.
    private init?(_ filter: String) {
        let field = ["name", "path"].first { filter.hasPrefix("\($0):") || filter.hasPrefix("\($0)=") }
        let text = filter.dropFirst(field.map { $0.count + 1 } ?? 0)
        let isQuoted = text.count > 2 && text.first == "\"" && text.last == "\""
        let value = isQuoted ? text.dropFirst().dropLast() : text
        let isEverywhere = value.hasPrefix("*") && value.hasSuffix("*") && !filter.hasPrefix("name=")
        // With stars between other characters somebody knows what they do.
        let hasPieces = value.split(separator: "*").count > 1 && !filter.hasPrefix("name=")
        let isFolder = value.hasPrefix("*") || value.hasSuffix("*")
        guard value.utf8.allSatisfy({ Self.isPlain($0, isQuoted: isQuoted, isPath: field == "path") }),
            value.contains(where: { $0 != "*" }), field == "path" ? !isFolder : !isEverywhere,
            field != nil || value.contains("*"), !hasPieces
        else { return nil }
        (self.field, self.isQuoted, self.value) = (field, isQuoted, value)
    }

    /// Whether a byte has no meaning in a filter or a shell beside the one in a name.
    private static func isPlain(_ byte: UInt8, isQuoted: Bool, isPath: Bool) -> Bool {
        byte.isASCIIAlphanumeric || byte >= 0x80 || "._-*".utf8.contains(byte)
            || isPath && byte == UInt8(ascii: "/") || isQuoted && " ()".utf8.contains(byte)
    }

    private var advice: String {
        let part = value.drop { $0 == "*" }.reversed().drop { $0 == "*" }.reversed()
        let text = String(part)
        guard !text.contains("*") else {
            return "'*' is a wildcard only after ':', as in 'name:\(quoted(text))'"
        }
        guard field == "path" else { return "'name:\(quoted("*\(text)*"))' finds it anywhere in a name" }
        // A path begins with the name of a folder.
        let path = text.drop { $0 == "/" }
        let folder = path.hasSuffix("/") ? path : "\(path)/"
        return "'path:\(quoted("\(folder)*"))' finds the files of a folder"
    }

    private func quoted(_ text: String) -> String { isQuoted ? "\"\(text)\"" : text }
}
