import Basics
import Foundation
import HTTPClient

/// A folder that is held open, so that what is done in it is done in it and nowhere else.
///
/// The way from the root is walked name by name, and no symbolic link is followed: whoever may write below the root
/// cannot lead a copy out of it.
final class Folder: Sendable {
    private let descriptor: Int32

    private init(_ descriptor: Int32) {
        self.descriptor = descriptor
    }

    /// Whether something has that name that is no folder.
    func hasFile(_ name: String) -> Bool {
        var status = stat()
        guard fstatat(descriptor, name, &status, AT_SYMLINK_NOFOLLOW) == 0 else { return errno != ENOENT }
        return status.st_mode & S_IFMT != S_IFDIR
    }

    deinit {
        close(descriptor)
    }

    /// - Parameters:
    ///   - root: must be there, and may be a link.
    ///   - makes: whether those that are missing are made. The names of all are durable then.
    ///   - visit: called with each folder on the way, but for the last.
    /// - Returns: `nil` where one is missing.
    /// - Throws: `CopyFailure`.
    static func open(
        _ root: String, _ names: some Sequence<String>, makes: Bool, visit: (Folder) throws -> Void = { _ in }
    ) throws -> Folder? {
        let first = Foundation.open(root, O_RDONLY | O_DIRECTORY | O_CLOEXEC)
        // A disk that is not mounted yet may be so later.
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
            // Also one that is there: whoever made it may have been killed before its name was durable.
            if makes, fsync(folder.descriptor) != 0 { throw failure("sync a folder") }
            let child = Folder(next)
            try visit(folder)
            folder = child
        }
        return folder
    }

    /// Makes the names in it durable.
    ///
    /// - Throws: `CopyFailure`.
    func synchronize(_ fsync: (Int32) -> Int32) throws {
        guard fsync(descriptor) == 0 else { throw Self.failure("sync a folder") }
    }

    private func openChild(_ name: String) -> Int32 {
        openat(descriptor, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC)
    }

    /// The path of a file in it, good as long as this is held (proc(5), `/proc/self/fd`).
    func path(of name: String) -> String { "/proc/self/fd/\(descriptor)/\(name)" }

    private static func failure(_ what: String, _ failureKind: FailureKind? = nil) -> CopyFailure {
        let passes = [ENOSPC, EDQUOT, EIO, EMFILE, ENFILE, ENOMEM].contains(errno)
        return CopyFailure(
            .destinationFailed, "cannot \(what): \(String(cString: strerror(errno)))",
            failureKind ?? (passes ? .transient() : .permanent))
    }
}
