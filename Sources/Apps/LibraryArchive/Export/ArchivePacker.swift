import Basics
import Zip

/// Packs documents into an archive.
enum ArchivePacker {
    /// - Parameters:
    ///   - time: the time of all entries.
    ///   - archive: an empty file.
    static func pack(
        _ documents: [LibraryDocument: LibraryFile], at time: UnixTime, into archive: LibraryFile
    ) throws -> LibraryFile {
        var writer = ZipWriter()
        for document in LibraryDocument.allCases {
            guard let file = documents[document] else { continue }
            try archive.append(
                try writer.begin(document.fileName, time: time, method: .deflated, largestSize: file.size))
            var offset: Int64 = 0
            while offset < file.size {
                let piece = try file.piece(at: offset)
                offset += Int64(piece.count)
                try archive.append(piece.withUnsafeBytes { writer.compress($0) })
            }
            try archive.append(writer.end())
        }
        try archive.append(writer.finish())
        return archive
    }
}
