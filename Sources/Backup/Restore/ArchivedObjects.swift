import ObjectStore

/// An archive's list of objects, read from a file while the objects' data is read.
final class ArchivedObjects {
    private let source: FileSource

    init(path: String) throws {
        source = try FileSource(path: path)
    }

    func next() throws -> StoredFile? {
        let entry = try source.read(StoredFile.entryCount)
        if entry.isEmpty { return nil }
        guard let file = StoredFile(listEntry: entry) else { throw ArchiveError.altered("malformed object list") }
        return file
    }

    /// Advances to the entry of an object's data.
    ///
    /// - Parameter passOver: called for each entry before it, whose data is not in the archive.
    func advance(to record: ArchiveRecord, passOver: (StoredFile) throws -> Void) throws -> StoredFile {
        while let file = try next() {
            if file.fileID == record.name {
                guard file.size == record.length else {
                    throw ArchiveError.altered("the object \(file.fileID) does not have the size in the object list")
                }
                return file
            }
            try passOver(file)
        }
        throw ArchiveError.altered("the object \(record.name) is missing from the object list or out of order")
    }
}
