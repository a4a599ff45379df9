/// The search for a part of a name.
enum NameSearch {
    /// Returns the end of a message that nothing was found: a word finds the beginning of a name only. Empty for other filters.
    static func advice(for filter: String) -> String {
        let isWord =
            !filter.isEmpty
            && filter.utf8.allSatisfy { byte in
                UInt8(ascii: "a")...UInt8(ascii: "z") ~= byte | 0x20 || UInt8(ascii: "0")...UInt8(ascii: "9") ~= byte
                    || byte >= 0x80 || "._-".utf8.contains(byte)
            }
        return isWord ? "; 'name:*\(filter)*' finds it anywhere in a name" : ""
    }
}
