import Basics
import CommandLineInterface
import Foundation
import HTTPClient
import StoreClient

/// A file as RequestDownload describes it.
struct RemoteFile: Sendable {
    let id: String
    /// `nil` = the gateway is of a version that tells no names.
    let name: FileName?
    /// Bytes.
    let size: Int64
    /// `nil` = not told.
    let crc64: UInt64?
    let location: FileDownload.Location
}

/// Which file on this disk a download becomes.
struct DownloadTarget: Sendable {
    /// Files of one name that one folder may have.
    private static let mostOfOneName = 10_000

    let path: String
    /// The file is there already, with the same bytes.
    let isComplete: Bool

    /// The first of `NAME`, `NAME (2)` and so on that is free or has the file's own bytes: nothing that is there is written
    /// over.
    static func find(for file: RemoteFile, in folder: String, isByID: Bool) async throws -> DownloadTarget {
        // What the gateway says becomes a name in a folder: nothing that leads out of it.
        guard let name = (isByID ? nil : file.name) ?? FileName(file.id), !isByID || name.text == file.id else {
            throw ClientFailure("the gateway named no file")
        }
        let tail = name.fileExtension.isEmpty ? "" : String(name.text.suffix(name.fileExtension.utf8.count + 1))
        let stem = name.text.dropLast(tail.count)
        for number in 1...mostOfOneName {
            let path = "\(folder)/\(number == 1 ? name.text : "\(stem) (\(number))\(tail)")"
            guard FileManager.default.fileExists(atPath: path) else {
                return DownloadTarget(path: path, isComplete: false)
            }
            if try await isCopy(path, of: file) { return DownloadTarget(path: path, isComplete: true) }
        }
        throw ClientFailure("\(folder) has \(mostOfOneName) files named \(name.text)")
    }

    private static func isCopy(_ path: String, of file: RemoteFile) async throws -> Bool {
        guard let crc64 = file.crc64 else { return false }
        return try await DiskWork.run {
            guard let reader = try? FileReader(path), try reader.status().st_size == file.size else { return false }
            return try reader.digest(of: 0..<file.size)?.crc64 == crc64
        }
    }
}
