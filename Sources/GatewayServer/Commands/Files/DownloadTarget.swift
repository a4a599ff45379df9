import Basics
import CommandLineInterface
import Foundation
import HTTPClient
import Proto
import StoreClient

/// A file with the data of RequestDownload's response.
struct RemoteFile: Sendable {
    let id: String
    /// `nil` = the gateway's version does not return names.
    let name: FileName?
    /// The size in bytes.
    let size: Int64
    /// `nil` = not returned.
    let crc64: UInt64?
    let location: FileDownload.Location
    /// The details of the object from a list; `nil` = it was given by its id.
    var details: DataObject?
}

/// Chooses the local files of downloads.
struct DownloadTargets: Sendable {
    /// The source of the files' names.
    enum Naming: Sendable, Hashable {
        case byName
        case byID
        case template(DownloadTemplate)
    }

    struct Target: Sendable {
        let path: String
        /// Whether the file already exists with the same bytes.
        let isComplete: Bool
    }

    /// The largest number of files with one name in a folder.
    private static let mostOfOneName = 10_000

    let folder: String
    let naming: Naming
    /// The paths of the other downloads of this run.
    private var taken: Set<String> = []

    init(folder: String, naming: Naming) {
        self.folder = folder
        self.naming = naming
    }

    /// Returns the first of `NAME`, `NAME (2)` and so on that does not exist or has the same bytes: no existing file is
    /// overwritten.
    mutating func find(for file: RemoteFile) async throws -> Target {
        var (folder, name) = (folder, try name(of: file))
        if case .template(let template) = naming {
            let names = try template.path(of: file)
            folder = ([folder] + names.dropLast().map(\.text)).joined(separator: "/")
            name = names[names.count - 1]
            try Self.makeFolder(folder)
        }
        let tail = name.fileExtension.isEmpty ? "" : String(name.text.suffix(name.fileExtension.utf8.count + 1))
        let stem = name.text.dropLast(tail.count)
        for number in 1...Self.mostOfOneName {
            let path = "\(folder)/\(number == 1 ? name.text : "\(stem) (\(number))\(tail)")"
            guard !taken.contains(path) else { continue }
            guard FileManager.default.fileExists(atPath: path) else {
                taken.insert(path)
                return Target(path: path, isComplete: false)
            }
            if try await Self.isCopy(path, of: file) {
                taken.insert(path)
                return Target(path: path, isComplete: true)
            }
        }
        throw ClientFailure("\(folder) has \(Self.mostOfOneName) files named \(name.text)")
    }

    /// Returns the file's name. The gateway's name is used in a folder only if it cannot lead out of it.
    private func name(of file: RemoteFile) throws(ClientFailure) -> FileName {
        let isByID = naming == .byID
        guard let name = (isByID ? nil : file.name) ?? FileName(file.id), !isByID || name.text == file.id else {
            throw ClientFailure("the gateway's response has no file")
        }
        return name
    }

    static func makeFolder(_ path: String) throws(ClientFailure) {
        do throws(PrivateFile.Failure) {
            try PrivateFile.makeFolders(path, mode: 0o777)
        } catch {
            throw ClientFailure("cannot create the folder \(error.reason)")
        }
    }

    private static func isCopy(_ path: String, of file: RemoteFile) async throws -> Bool {
        guard let crc64 = file.crc64 else { return false }
        return try await DiskWork.run {
            guard let reader = try? FileReader(path), try reader.status().st_size == file.size else { return false }
            return try reader.digest(of: 0..<file.size)?.crc64 == crc64
        }
    }
}
