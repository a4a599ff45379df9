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

/// The size of a library, or of an archive.
struct LibrarySize {
    var records = 0
    /// The number of relations between records.
    var relations = 0
    /// The size of all texts of the records, in bytes.
    var texts: Int64 = 0
    /// The size of the texts that the documents repeat, in bytes.
    var repeatedTexts: Int64 = 0

    /// - Throws: ``ArchiveFailure/archive(_:)`` above a limit.
    func check() throws(ArchiveFailure) {
        guard records <= LibraryLimits.records else {
            throw .archive("资料库最多 \(LibraryLimits.records) 条记录")
        }
        guard relations <= LibraryLimits.relations else {
            throw .archive("资料库最多 \(LibraryLimits.relations) 个关联")
        }
        guard texts <= LibraryLimits.texts else {
            throw .archive("资料库的文字最多 \(LibraryLimits.texts) 字节")
        }
        guard repeatedTexts <= LibraryLimits.repeatedTexts else {
            throw .archive(
                "关联的书名、标签名和作者名最多 \(LibraryLimits.repeatedTexts) 字节")
        }
    }
}
