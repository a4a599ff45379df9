import Basics
import CommandLineInterface
import FoundationEssentials
import Glibc
import HTTPClient
import Proto
import StoreClient

/// An object, and what is needed to name its file and to compare it.
struct RemoteFile: Sendable {
    let id: String
    /// `nil` = the gateway's version does not return names.
    let name: FileName?
    /// The path below the folder that was uploaded; `nil` if none was sent, or it is not valid.
    let relativePath: RelativePath?
    /// The size in bytes.
    let size: Int64
    /// `nil` = not returned.
    let crc64: UInt64?
    /// The place of its bytes; `nil` = not requested yet.
    var location: FileDownload.Location?
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
        /// The open folder, and the name of the file in it.
        let folder: TargetFolder
        let name: String
        /// Whether the file already exists with the same bytes.
        let isComplete: Bool

        /// The path for people.
        var shown: String { "\(folder.shown)/\(name)" }
    }

    /// The largest number of files with one name in a folder.
    private static let mostOfOneName = 10_000

    private let root: TargetFolder
    private let naming: Naming
    /// The paths of the other downloads of this run, and the same in the form that some file systems compare.
    private var taken: [String: Content] = [:]
    private var folded: Set<String> = []

    private struct Content: Hashable {
        let size: Int64
        /// `nil` = not known, which equals no other.
        let crc64: UInt64?
    }

    init(folder: String, naming: Naming) throws(ClientFailure) {
        root = try TargetFolder(folder)
        self.naming = naming
    }

    /// Returns the first of `NAME`, `NAME (2)` and so on that does not exist or has the same bytes: no existing file is
    /// overwritten.
    mutating func find(for file: RemoteFile) async throws -> Target {
        let names = try Self.names(of: file, naming)
        let folder = try root.folder(Array(names.dropLast()))
        let name = names[names.count - 1]
        let tail = FileName(verbatim: name).fileExtension
        let ending = tail.isEmpty ? "" : String(name.suffix(tail.utf8.count + 1))
        let stem = name.dropLast(ending.count)
        func numbered(_ number: Int) -> String {
            let ending = " (\(number))\(ending)"
            return stem.prefix(bytes: RelativePath.longestName - ending.utf8.count) + ending
        }
        for number in 1...Self.mostOfOneName {
            let candidate = number == 1 ? name : numbered(number)
            if file.crc64 != nil, taken["\(folder.shown)/\(candidate)"] == Content(size: file.size, crc64: file.crc64) {
                // The same bytes were uploaded twice.
                return Target(folder: folder, name: candidate, isComplete: true)
            }
            guard !isTaken(candidate, in: folder) else { continue }
            let exists = folder.has(candidate)
            let isComplete = exists ? try await Self.isCopy(candidate, in: folder, of: file) : false
            guard !exists || isComplete else { continue }
            take(candidate, in: folder, Content(size: file.size, crc64: file.crc64))
            return Target(folder: folder, name: candidate, isComplete: isComplete)
        }
        throw ClientFailure("\(folder.shown) has \(Self.mostOfOneName) files named \(name)")
    }

    private func isTaken(_ name: String, in folder: TargetFolder) -> Bool {
        let path = "\(folder.shown)/\(name)"
        return taken[path] != nil || folded.contains(path.lowercased()) && folder.foldsNames()
    }

    private mutating func take(_ name: String, in folder: TargetFolder, _ content: Content) {
        let path = "\(folder.shown)/\(name)"
        taken[path] = content
        folded.insert(path.lowercased())
    }

    /// Returns the names of the folders and of the file. What the gateway sent is used only if it cannot lead out of the target.
    static func names(of file: RemoteFile, _ naming: Naming) throws(ClientFailure) -> [String] {
        if case .template(let template) = naming { return try template.path(of: file) }
        if naming == .byName, let path = file.relativePath { return path.names }
        guard let name = (naming == .byID ? nil : file.name) ?? FileName(file.id),
            naming != .byID || name.text == file.id
        else { throw ClientFailure("the gateway's response has no file") }
        return [name.text]
    }

    static func makeFolder(_ path: String) throws(ClientFailure) {
        do throws(PrivateFile.Failure) {
            try PrivateFile.makeFolders(path, mode: 0o777)
        } catch {
            throw ClientFailure("cannot create the folder \(error.reason)")
        }
    }

    private static func isCopy(_ name: String, in folder: TargetFolder, of file: RemoteFile) async throws -> Bool {
        guard let crc64 = file.crc64 else { return false }
        return try await Worker.disk.run {
            do {
                guard let reader = try? FileReader(folder.path(of: name)), try reader.status().st_size == file.size
                else { return false }
                return try reader.digest(of: 0..<file.size)?.crc64 == crc64
            } catch let failure as FileReader.Failure {
                throw ClientFailure("cannot read \(folder.shown)/\(name): \(failure.reason)")
            }
        }
    }
}

/// An open folder in the target of a download. Files in it are reached through the descriptor, so that no link which somebody puts into
/// the target leads elsewhere.
final class TargetFolder: Sendable {
    /// The path for people.
    let shown: String
    private let descriptor: Int32

    /// Opens the target itself, which the user chose: links are followed.
    init(_ path: String) throws(ClientFailure) {
        descriptor = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC)
        shown = path
        guard descriptor >= 0 else { throw Self.failure(path) }
    }

    private init(_ name: String, in parent: TargetFolder) throws(ClientFailure) {
        shown = "\(parent.shown)/\(name)"
        if mkdirat(parent.descriptor, name, 0o777) != 0, errno != EEXIST {
            descriptor = -1
            throw Self.failure(shown)
        }
        descriptor = openat(parent.descriptor, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC)
        guard descriptor >= 0 else { throw Self.failure(shown) }
    }

    deinit {
        if descriptor >= 0 { close(descriptor) }
    }

    /// Opens the folder of these names, and creates those that are missing. A name that is a link is an error.
    func folder(_ names: [String]) throws(ClientFailure) -> TargetFolder {
        var folder = self
        for name in names { folder = try TargetFolder(name, in: folder) }
        return folder
    }

    /// The path of a file in the folder, for this process as long as the folder is open.
    func path(of name: String) -> String { "/proc/self/fd/\(descriptor)/\(name)" }

    /// Whether the folder has the name, of whatever kind.
    func has(_ name: String) -> Bool {
        var status = stat()
        return fstatat(descriptor, name, &status, AT_SYMLINK_NOFOLLOW) == 0
    }

    /// Whether its file system takes two names for one that differ in case or in the form of their characters.
    func foldsNames() -> Bool {
        let probe = ".data-gateway-\(UUID().uuidString.lowercased())"
        let file = openat(descriptor, probe, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0o600)
        guard file >= 0 else { return true }
        close(file)
        defer { unlinkat(descriptor, probe, 0) }
        return has(probe.uppercased())
    }

    private static func failure(_ path: String) -> ClientFailure {
        let reason = errno == ELOOP || errno == ENOTDIR ? "it is a link or a file" : String(cString: strerror(errno))
        return ClientFailure("cannot create the folder \(path): \(reason)")
    }
}
