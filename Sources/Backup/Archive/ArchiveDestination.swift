import Basics
package import Crypto
import Glibc
package import Proto
import Synchronization

/// The file that a backup is written to: `FILE.partial`, until it is completely on the disk.
///
/// Sendable although it is mutable: one call uses it, message after message.
package final class ArchiveDestination: @unchecked Sendable {  // used by one task at a time
    private let path: String
    private let partial: String
    private let descriptor: Int32
    private let sink: any ArchiveSink
    private let sealed: SealedSink?
    private var summary: BackupSummary?

    /// - Parameter passphrase: `nil` for an unencrypted archive.
    /// - Throws: `DataDirectory.Problem` if the file exists, or another backup is writing it.
    package init(_ path: String, passphrase: Secret?) throws {
        guard !DataDirectory.exists(path) else {
            throw DataDirectory.Problem(description: "\(path) already exists: name another file")
        }
        self.path = path
        partial = path + ".partial"
        descriptor = open(partial, O_WRONLY | O_CREAT | O_NOFOLLOW | O_CLOEXEC, 0o600)
        guard descriptor >= 0 else {
            throw DataDirectory.Problem.last("cannot write \(partial)")
        }
        // The rest of a backup that was killed is overwritten.
        guard flock(descriptor, LOCK_EX | LOCK_NB) == 0, fchmod(descriptor, 0o600) == 0, ftruncate(descriptor, 0) == 0
        else {
            close(descriptor)
            throw DataDirectory.Problem(
                description: "\(partial) is locked by another backup, or belongs to another user")
        }
        let file = FileSink(descriptor)
        do {
            sealed = try passphrase.map { try SealedSink(file, passphrase: $0) }
        } catch {
            close(descriptor)
            throw error
        }
        sink = sealed ?? file
    }

    deinit {
        close(descriptor)
    }

    package func receive(_ chunk: BackupChunk) throws {
        if !chunk.data.isEmpty { try sink.write(chunk.data) }
        if let summary = chunk.summary { self.summary = summary }
    }

    /// Syncs the file, and then renames it to its final name.
    package func finish() throws -> BackupSummary {
        guard let summary else { throw ArchiveError.truncated }
        try sealed?.finish()
        guard fsync(descriptor) == 0, !DataDirectory.exists(path), rename(partial, path) == 0 else {
            throw DataDirectory.Problem.last("cannot finish \(path)")
        }
        try PrivateFile.synchronizeFolder(Path.folder(of: path))
        return summary
    }

    package func abandon() {
        unlink(partial)
    }
}
