import Basics
import Foundation
import HTTPClient

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
        let first = Foundation.open(root, O_RDONLY | O_DIRECTORY | O_CLOEXEC)
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
