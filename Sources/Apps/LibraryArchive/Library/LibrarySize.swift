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
