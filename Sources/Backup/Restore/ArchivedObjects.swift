import ObjectStore

/// An archive's list of objects, read from the disk beside the objects' data.
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

    /// The entry that an object's data belongs to.
    ///
    /// - Parameter passOver: called for each entry before it that the archive has no data of.
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
