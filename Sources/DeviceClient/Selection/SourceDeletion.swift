import Basics
import CLinux
import Glibc

/// The reason why a confirmed file is not deleted: a sentence without a full stop.
package struct SourceKept: Error, Sendable, Hashable, CustomStringConvertible {
    package let message: String

    package var description: String { message }
}

extension SourceIdentity {
    /// Ignores SIGIO, which the kernel sends if a process opens the file for writing while the lease is held (fcntl(2)); its
    /// default action ends this process.
    private static let ignoresLeaseSignals: Bool = {
        signal(SIGIO, SIG_IGN)
        return true
    }()

    /// Whether a process has the file open for writing; `nil` if the system does not tell, for example for other users' files.
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

    /// Deletes the file if it is the uploaded version and is not open for writing. A file that does not exist is not an error.
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
        // Until the directory is synced, a power loss may restore the file: it is in the record of confirmed files.
        try? PrivateFile.synchronizeFolder(Path.folder(of: path))
    }
}
