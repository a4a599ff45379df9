import Basics
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
            let folder = Self.folder(in: reader.entries.map(\.name))
            for document in LibraryDocument.allCases {
                guard let entry = reader.entries.first(where: { $0.name == folder + document.fileName }) else {
                    throw ArchiveFailure.archive("备份中没有文件 \(document.fileName)")
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
            throw ArchiveFailure.archive(error.explanation)
        }
    }

    /// Returns the folder of the documents with a slash at its end; empty = they are at the root.
    ///
    /// A person whose browser has unpacked the archive, and who packs the folder again, gets an archive with one folder: on a Mac
    /// beside a folder `__MACOSX`, which has a file for each of the documents as well.
    private static func folder(in names: [String]) -> String {
        let document = "/" + LibraryDocument.books.fileName
        let folders = names.filter { $0.hasSuffix(document) }.map { $0.dropLast(document.utf8.count) }
            .filter { !$0.contains("/") && $0 != "__MACOSX" }
        guard !names.contains(LibraryDocument.books.fileName), folders.count == 1 else { return "" }
        return folders[0] + "/"
    }
}

extension ZipError {
    /// The text for the person who has chosen the archive; the parentheses are for whoever looks for the cause.
    fileprivate var explanation: String {
        switch self {
        case .noEndRecord: "文件不完整，或者不是 zip 备份"
        case .limitExceeded: "备份太大 (\(self))"
        case .malformed, .corrupted: "备份已损坏 (\(self))"
        case .unsupported, .invalidName, .duplicateName, .unreadable: "无法读取备份 (\(self))"
        }
    }
}
