import Basics

/// The rules for libraries.
enum LibraryRules {
    /// Whether a text is a UUID (RFC 9562, section 4), in upper or lower case.
    static func isID(_ text: String) -> Bool {
        let bytes = Array(text.utf8)
        guard bytes.count == 36 else { return false }
        return bytes.indices.allSatisfy { index in
            [8, 13, 18, 23].contains(index) ? bytes[index] == UInt8(ascii: "-") : bytes[index].hexDigitValue != nil
        }
    }

    /// Checks the sum of the records and relations of an archive.
    ///
    /// - Throws: ``ArchiveFailure/archive(_:)``.
    static func checkTotals(_ contents: LibraryContents) throws(ArchiveFailure) {
        var size = LibrarySize()
        size.records = contents.count
        size.relations =
            contents.books.reduce(0) { $0 + $1.relationCount } + contents.creators.reduce(0) { $0 + $1.relationCount }
            + contents.tags.reduce(0) { $0 + $1.relationCount }
        try size.check()
    }
}
