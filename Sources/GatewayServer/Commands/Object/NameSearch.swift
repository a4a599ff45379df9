import Basics

/// The search for a part of a name.
enum NameSearch {
    /// Returns the end of a message that nothing was found: a word finds the beginning of a name only, `name:WORD` the whole name,
    /// and a `*` in a word is a character like others. Empty for other filters, and if the name was searched everywhere.
    static func advice(for filter: String) -> String {
        let prefix = ["name:", "name="].first { filter.hasPrefix($0) } ?? ""
        let filter = filter.dropFirst(prefix.count)
        guard prefix != "name:" || !(filter.hasPrefix("*") && filter.hasSuffix("*")) else { return "" }
        let isWord = filter.utf8.allSatisfy { $0.isASCIIAlphanumeric || $0 >= 0x80 || "._-*".utf8.contains($0) }
        let part = filter.split(separator: "*").joined(separator: "*")
        return isWord && !part.isEmpty ? "; 'name:*\(part)*' finds it anywhere in a name" : ""
    }
}
