import Basics
import CommandLineInterface
import Foundation
import HTTPClient
import Proto
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
    /// What a list says of the object; `nil` = it was named by its id.
    var details: DataObject?
}

/// Which files on this disk downloads become.
struct DownloadTargets: Sendable {
    /// How files are named.
    enum Naming: Sendable, Hashable {
        case byName
        case byID
        case template(DownloadTemplate)
    }

    struct Target: Sendable {
        let path: String
        /// The file is there already, with the same bytes.
        let isComplete: Bool
    }

    /// Files of one name that one folder may have.
    private static let mostOfOneName = 10_000

    let folder: String
    let naming: Naming
    /// The paths that other downloads of this run have.
    private var taken: Set<String> = []

    init(folder: String, naming: Naming) {
        self.folder = folder
        self.naming = naming
    }

    /// The first of `NAME`, `NAME (2)` and so on that is free or has the file's own bytes: nothing that is there is written
    /// over.
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

    /// What the gateway says becomes a name in a folder: nothing that leads out of it.
    private func name(of file: RemoteFile) throws(ClientFailure) -> FileName {
        let isByID = naming == .byID
        guard let name = (isByID ? nil : file.name) ?? FileName(file.id), !isByID || name.text == file.id else {
            throw ClientFailure("the gateway named no file")
        }
        return name
    }

    static func makeFolder(_ path: String) throws(ClientFailure) {
        do {
            try FileManager.default.createDirectory(atPath: path, withIntermediateDirectories: true)
        } catch {
            throw ClientFailure("cannot create the folder \(path): \(error.localizedDescription)")
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
