import Basics
import CLinux
import Foundation

/// Why a file that arrived is not deleted: a sentence without a full stop.
package struct SourceKept: Error, Sendable, Hashable {
    package let message: String
}

extension SourceIdentity {
    /// Ignores SIGIO, which the kernel sends if a process opens the file for writing while the lease is held (fcntl(2)); its
    /// default action ends this process.
    private static let ignoresLeaseSignals: Bool = {
        signal(SIGIO, SIG_IGN)
        return true
    }()

    /// Whether a process has the file open to write to it; `nil` where the system does not say, as for other users' files.
    package static func isBeingWritten(_ path: String) -> Bool? {
        let descriptor = open(path, O_RDONLY | O_NONBLOCK | O_NOFOLLOW | O_CLOEXEC)
        guard descriptor >= 0, ignoresLeaseSignals else { return nil }
        defer { close(descriptor) }
        switch linux_has_writers(descriptor) {
        case 0: return false
        case 1: return true
        default: return nil
        }
    }

    /// Deletes the file, where it is still the one that was uploaded and nobody is writing to it. A file that is gone already
    /// is no error.
    ///
    /// - Throws: `SourceKept`.
    package func deleteFile() throws(SourceKept) {
        var status = stat()
        guard lstat(path, &status) == 0 else {
            if errno == ENOENT { return }
            throw SourceKept(message: "\(path) was not deleted: \(String(cString: strerror(errno)))")
        }
        if let change = change(to: SourceIdentity(path: path, status)) {
            throw SourceKept(message: "\(path) was not deleted: it \(change) after its upload")
        }
        guard Self.isBeingWritten(path) != true else {
            throw SourceKept(message: "\(path) was not deleted: another process has it open for writing")
        }
        guard unlink(path) == 0 || errno == ENOENT else {
            throw SourceKept(message: "\(path) was not deleted: \(String(cString: strerror(errno)))")
        }
        // Until the directory is synced, a power loss brings the file back: it is in the record of what arrived.
        try? PrivateFile.synchronizeFolder(Path.folder(of: path))
    }

    /// What the system says of the file at `path`.
    package init(path: String, _ status: stat) {
        self.init(
            path: path, size: Int64(status.st_size),
            modified: Int64(status.st_mtim.tv_sec) * 1_000_000_000 + Int64(status.st_mtim.tv_nsec),
            device: UInt64(status.st_dev), inode: UInt64(status.st_ino))
    }
}
