import Basics
import Glibc
import HTTPClient
import StoreClient

/// A folder of this machine, and everything below it, as a destination. Requests use `file:///path`.
package struct FolderTarget: DestinationTarget {
    /// The absolute path without a slash at its end; has to exist.
    package let root: String

    package init(root: String) {
        self.root = root
    }

    var name: String { CopyPlace.fileScheme + root }
    var place: CopyPlace { CopyPlace(endpoint: name, bucket: "", region: "") }

    func writer(for place: CopyPlace, _ environment: CopyEnvironment) -> (any DestinationWriter)? {
        folders(to: place).map { FolderWriter(root: root, folders: $0) }
    }

    /// Returns the names of the folders from the root to the destination.
    private func folders(to place: CopyPlace) -> [String]? {
        guard place.endpoint.hasPrefix(CopyPlace.fileScheme) else { return nil }
        var path = place.endpoint.dropFirst(CopyPlace.fileScheme.count)
        if path.count > 1, path.last == "/" { path.removeLast() }
        guard path.hasPrefix(root) else { return nil }
        let rest = path.dropFirst(root.count)
        guard !rest.isEmpty else { return [] }
        guard rest.first == "/" else { return nil }
        let folders = rest.dropFirst().split(byte: "/")
        return folders.allSatisfy(FolderWriter.isName) ? folders : nil
    }
}

extension CopyTarget {
    /// - Parameter organizations: the names of the organizations that may copy there; `nil` = all.
    package static func folder(_ target: FolderTarget, organizations: [String]? = nil) -> CopyTarget {
        CopyTarget(target, organizations: organizations)
    }
}

/// Copies into folders of this machine: first to a temporary file, which is renamed when it is complete and synced.
struct FolderWriter: DestinationWriter {
    /// The number of bytes between two reports, and between two checks for cancellation.
    private static let stride: Int64 = 16 << 20

    let root: String
    /// The folders below the root, the outermost first.
    let folders: [String]
    /// fsync(2), which tests replace.
    var synchronize: @Sendable (Int32) -> Int32 = { fsync($0) }

    /// Whether a folder or a file may have the name: 1 to 255 bytes, no slash, neither `.` nor `..`, no control character.
    static func isName(_ name: String) -> Bool {
        (1...255).contains(name.utf8.count) && name != "." && name != ".."
            && name.utf8.allSatisfy { $0 >= 0x20 && $0 != 0x7F && $0 != UInt8(ascii: "/") }
    }

    func objection(to key: String) -> String? {
        let names = Self.names(of: key)
        guard names.allSatisfy(Self.isName) else { return "each segment between slashes must be 1 to 255 bytes" }
        return names.last?.hasPrefix(CopyItem.partialPrefix) == true ? "the name is reserved for unfinished files" : nil
    }

    /// Returns the existing content, after making the file, its name and the folders of its path durable: a process that was killed
    /// may have written it without syncing.
    func found(_ item: CopyItem, _ source: CopySource) async throws -> DestinationContent {
        try await Worker.disk.run {
            let names = Self.names(of: item.key)
            // A file that cannot be read belongs to another program; the error does not concern the source.
            var way: [Folder] = []
            let below = folders + names.dropLast()
            guard let folder = try Folder.open(root, below, makes: false, visit: { way.append($0) }),
                folder.hasFile(names.last ?? "")
            else { return .nothing }
            guard let file = try? FileReader(folder.path(of: names.last ?? "")),
                let status = try? file.status(), Int64(status.st_size) == source.size,
                let digest = try? file.digest(of: 0..<source.size)
            else { return .another }
            guard digest.crc64 == source.crc64, (try? file.synchronize(synchronize)) != nil else { return .another }
            for folder in way + [folder] { try folder.synchronize(synchronize) }
            return .same
        }
    }

    func path(of key: String) -> String {
        "file://\(([root] + folders + [key]).joined(separator: "/"))"
    }

    func write(
        _ item: CopyItem, _ source: CopySource, over found: DestinationContent, replaces: Bool, _ progress: CopyProgress
    ) async throws {
        let names = Self.names(of: item.key)
        let (folder, partial) = try await Worker.disk.run {
            guard let folder = try Folder.open(root, folders + names.dropLast(), makes: true) else {
                throw CopyFailure(.destinationFailed, "the destination's folder does not exist any more", .transient())
            }
            return (folder, try PartialFile(folder.path(of: item.partialName), synchronize: synchronize))
        }
        // After a power loss, an earlier attempt's file may be shorter than it was or contain other bytes.
        for isLast in [false, true] {
            try await append(source, to: partial, progress)
            let isWhole = try await Worker.disk.run {
                guard partial.size == source.size, partial.crc64 == source.crc64 else {
                    try partial.truncate()
                    return false
                }
                // No other organization can write the name by now; against other programs this is a check without a lock.
                guard replaces || !folder.hasFile(names.last ?? "") else { throw CopyFailure.occupied }
                try partial.finish(as: folder.path(of: names.last ?? ""))
                return true
            }
            if isWhole { return }
            if isLast {
                throw CopyFailure(
                    .sourceDamaged, "the object is corrupted: its bytes no longer match its checksum", .permanent)
            }
        }
    }

    private func append(_ source: CopySource, to partial: PartialFile, _ progress: CopyProgress) async throws {
        while partial.size < source.size {
            try Task.checkCancellation()
            let end = min(partial.size + Self.stride, source.size)
            try await Worker.disk.run {
                try source.bytes.forEachBlock(of: partial.size..<end) { try partial.append($0) }
            }
            guard partial.size == end else {
                throw CopyFailure(.sourceDamaged, "the object's file became shorter", .permanent)
            }
            try await progress.reached(end)
        }
    }

    func abandon(_ item: CopyItem) async throws {
        try await Worker.disk.run {
            let names = Self.names(of: item.key)
            guard let folder = try Folder.open(root, folders + names.dropLast(), makes: false) else { return }
            unlink(folder.path(of: item.partialName))
        }
    }

    private static func names(of key: String) -> [String] {
        key.split(byte: "/")
    }
}

/// An open folder, so that operations apply to it even if its path changes.
///
/// The path is opened name by name from the root without following symbolic links, so that users who may write below the root
/// cannot redirect a copy.
final class Folder: Sendable {
    private let descriptor: Int32

    private init(_ descriptor: Int32) {
        self.descriptor = descriptor
    }

    /// Whether a file of that name exists that is not a folder.
    func hasFile(_ name: String) -> Bool {
        var status = stat()
        guard fstatat(descriptor, name, &status, AT_SYMLINK_NOFOLLOW) == 0 else { return errno != ENOENT }
        return status.st_mode & S_IFMT != S_IFDIR
    }

    deinit {
        close(descriptor)
    }

    /// Opens a folder below a root.
    ///
    /// - Parameters:
    ///   - root: has to exist, and may be a symbolic link.
    ///   - makes: whether missing folders are created; the names of all folders are then durable.
    ///   - visit: called with each folder of the path except the last.
    /// - Returns: `nil` if a folder is missing.
    /// - Throws: `CopyFailure`.
    static func open(
        _ root: String, _ names: some Sequence<String>, makes: Bool, visit: (Folder) throws -> Void = { _ in }
    ) throws -> Folder? {
        let first = Glibc.open(root, O_RDONLY | O_DIRECTORY | O_CLOEXEC)
        // A disk that is not mounted may be mounted later.
        guard first >= 0 else { throw failure("open the destination's root folder", .transient()) }
        var folder = Folder(first)
        for name in names {
            var next = folder.openChild(name)
            if next < 0, errno == ENOENT {
                guard makes else { return nil }
                guard mkdirat(folder.descriptor, name, 0o777) == 0 || errno == EEXIST else {
                    throw failure("make a folder")
                }
                next = folder.openChild(name)
            }
            guard next >= 0 else { throw failure("open a folder") }
            // Existing folders, too: the process that created one may have been killed before its name was durable.
            if makes, fsync(folder.descriptor) != 0 { throw failure("sync a folder") }
            let child = Folder(next)
            try visit(folder)
            folder = child
        }
        return folder
    }

    /// Makes the names in the folder durable.
    ///
    /// - Throws: `CopyFailure`.
    func synchronize(_ fsync: (Int32) -> Int32) throws {
        guard fsync(descriptor) == 0 else { throw Self.failure("sync a folder") }
    }

    private func openChild(_ name: String) -> Int32 {
        openat(descriptor, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC)
    }

    /// Returns a path of a file in the folder that is valid while this object exists (proc(5), `/proc/self/fd`).
    func path(of name: String) -> String { "/proc/self/fd/\(descriptor)/\(name)" }

    private static func failure(_ what: String, _ failureKind: FailureKind? = nil) -> CopyFailure {
        let passes = [ENOSPC, EDQUOT, EIO, EMFILE, ENFILE, ENOMEM].contains(errno)
        return CopyFailure(
            .destinationFailed, "cannot \(what): \(String(cString: strerror(errno)))",
            failureKind ?? (passes ? .transient() : .permanent))
    }
}
