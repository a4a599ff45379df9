import Basics

/// The search for a part of a name.
enum NameSearch {
    /// Returns the end of a message that nothing was found: a word finds the beginning of a name only. Empty for other filters.
    static func advice(for filter: String) -> String {
        let isWord =
            !filter.isEmpty
            && filter.utf8.allSatisfy { $0.isASCIIAlphanumeric || $0 >= 0x80 || "._-".utf8.contains($0) }
        return isWord ? "; 'name:*\(filter)*' finds it anywhere in a name" : ""
    }
}
