/// The limits of a library. They also bound the memory of an import and of an export.
enum LibraryLimits {
    /// The size of an archive that is imported, in bytes.
    static let archive: Int64 = 64 << 20
    /// The uncompressed size of an archive's documents, in bytes.
    static let documents: Int64 = 64 << 20
    /// The number of records.
    static let records = 100_000
    /// The number of relations between records.
    static let relations = 500_000
    /// The size of all stored texts, in bytes.
    static let texts: Int64 = 48 << 20
    /// The size of the names that documents repeat at each related record, in bytes.
    static let repeatedTexts: Int64 = 32 << 20
    /// The size of a digest's content and of a book's summary, in bytes.
    static let longText = 256 << 10
    /// The size of any other text, in bytes.
    static let shortText = 4096
    /// The size of one record in JSON, in bytes.
    static let record = 4 << 20
    /// The number of values in one record. A value of two bytes in JSON can take a hundred in memory.
    static let values = 200_000
}
