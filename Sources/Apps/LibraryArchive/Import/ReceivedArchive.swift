import Zip

/// The zip archive of an import.
enum ReceivedArchive {
    private static var limits: ZipLimits {
        var limits = ZipLimits()
        // Programs add entries of their own to archives.
        limits.entries = 1000
        limits.directoryBytes = 1 << 20
        limits.totalBytes = LibraryLimits.documents
        // A digest may repeat one character: what an export compresses must be importable. The total bounds the work.
        limits.ratio = .max
        return limits
    }

    /// Returns the bytes of the four documents.
    ///
    /// - Throws: ``ArchiveFailure/archive(_:)`` for anything that is not an archive with the documents.
    static func documents(of file: LibraryFile) throws -> [LibraryDocument: [UInt8]] {
        do {
            let reader = try ZipReader(try ZipFile(descriptor: file.file.descriptor), limits: limits)
            var documents: [LibraryDocument: [UInt8]] = [:]
            for document in LibraryDocument.allCases {
                guard let entry = reader.entries.first(where: { $0.name == document.fileName }) else {
                    throw ArchiveFailure.archive("the archive has no file \(document.fileName)")
                }
                var bytes: [UInt8] = []
                bytes.reserveCapacity(Int(entry.size))
                try reader.read(entry) { bytes.append(contentsOf: $0) }
                documents[document] = bytes
            }
            return documents
        } catch ZipError.unreadable(let code) {
            throw ArchiveFailure.storage(ZipError.unreadable(code))
        } catch let error as ZipError {
            throw ArchiveFailure.archive("\(error)")
        }
    }
}
