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
            throw .archive("a library can have at most \(LibraryLimits.records) records")
        }
        guard relations <= LibraryLimits.relations else {
            throw .archive("a library can have at most \(LibraryLimits.relations) relations between records")
        }
        guard texts <= LibraryLimits.texts else {
            throw .archive("a library can have at most \(LibraryLimits.texts) bytes of text")
        }
        guard repeatedTexts <= LibraryLimits.repeatedTexts else {
            throw .archive(
                "the names of related books, tags and creators can have at most \(LibraryLimits.repeatedTexts) bytes")
        }
    }
}
