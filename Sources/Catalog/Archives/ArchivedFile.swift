import Basics
import ObjectStore
import Zip

/// An object as an entry of an archive.
struct ArchivedFile: Sendable {
    /// The path in the archive.
    let name: String
    /// The time when the content was recorded, else when its upload began.
    let time: UnixTime
    let file: StoredFile
    /// The CRC-32 of the bytes; `nil` if none is recorded.
    let crc32: UInt32?
}

extension ZipWriter {
    /// Begins the entry of a file.
    mutating func begin(_ file: ArchivedFile) throws(ZipError) -> [UInt8] {
        guard let crc32 = file.crc32 else {
            return try begin(file.name, time: file.time, largestSize: file.file.size)
        }
        return try begin(file.name, time: file.time, KnownContents(size: file.file.size, crc32: crc32))
    }
}

/// The names of an archive's entries: `DEVICE/PATH` for files of an uploaded folder, else `DEVICE/TIME-NAME`; each only once, also for
/// file systems that ignore case.
struct ArchiveNames {
    private var taken: Set<String> = []

    mutating func name(_ object: CatalogObject, name: FileName, crc32: UInt32?) -> ArchivedFile {
        let time = object.description.recordedFrom ?? object.times.createdAt
        let folder = object.owner.deviceID ?? "site-\(object.owner.siteID)"
        let stamp = RFC3339.text(UnixTime(seconds: time.seconds)).map { $0 == ":" ? "-" : $0 }
        // Programs for other systems take a backslash for a slash.
        let path =
            object.description.relativePath.map { "\(folder)/\($0.text.replacing("\\", with: "_"))" }
            ?? "\(folder)/\(String(stamp))-\(name.text)"
        return ArchivedFile(
            name: unique(path), time: time,
            file: StoredFile(
                fileID: object.fileID, size: object.content.size, crc64: object.description.crc64 ?? 0),
            crc32: crc32)
    }

    /// Adds a number before the extension of a path that is taken.
    private mutating func unique(_ path: String) -> String {
        var candidate = path
        var number = 1
        let slash = path.lastIndex(of: "/") ?? path.startIndex
        let dot = path[slash...].lastIndex(of: ".") ?? path.endIndex
        while !taken.insert(candidate.lowercased()).inserted {
            number += 1
            candidate = "\(path[..<dot]) (\(number))\(path[dot...])"
        }
        return candidate
    }
}
