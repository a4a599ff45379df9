import Basics
import Glibc
import HTTPClient
import Proto

/// A folder of this machine for archives. It has to exist, so that nothing is written below a mount point without its disk.
package struct BackupFolder: BackupDestination {
    /// The absolute path without a slash at its end.
    package let root: String

    package init(root: String) {
        self.root = root
    }

    package var name: String { "file://\(root)" }

    package func begin(_ archive: String, _ plan: ArchivePlan) async throws -> any ArchiveUpload {
        try await Worker.disk.run {
            try requireSpace(plan)
            return FolderArchiveUpload(file: try ArchiveDestination(path(of: archive), passphrase: nil))
        }
    }

    package func size(of archive: String) async throws -> Int64? {
        try await Worker.disk.run {
            var status = stat()
            guard lstat(path(of: archive), &status) != 0 else { return Int64(status.st_size) }
            guard errno == ENOENT, DataDirectory.exists(root) else { throw failure("read", archive) }
            return nil
        }
    }

    package func source(of archive: String) throws -> any ArchiveSource {
        // Pages that this process wrote say nothing about the disk.
        let descriptor = open(path(of: archive), O_RDONLY | O_CLOEXEC)
        if descriptor >= 0 {
            CachedPages.dropAll(of: descriptor)
            close(descriptor)
        }
        return try FileSource(path: path(of: archive))
    }

    package func remove(_ archive: String) async throws {
        try await unlink(archive)
    }

    package func abandon(_ archive: String, multipartID: String?) async throws {
        try await unlink(archive + ".partial")
    }

    private func unlink(_ name: String) async throws {
        try await Worker.disk.run {
            guard Glibc.unlink(path(of: name)) == 0 || errno == ENOENT else { throw failure("remove", name) }
        }
    }

    /// Throws if the archive would not fit, or would take the space that uploads need.
    private func requireSpace(_ plan: ArchivePlan) throws {
        var (here, data) = (stat(), stat())
        guard stat(root, &here) == 0, here.st_mode & S_IFMT == S_IFDIR, let free = DiskSpace.available(at: root) else {
            throw DataDirectory.Problem(
                description: "the backup directory \(root) does not exist or cannot be used: is its disk mounted?")
        }
        let isShared = stat(plan.scratch, &data) == 0 && here.st_dev == data.st_dev
        let needed = plan.expectedBytes + (isShared ? plan.reservedBytes : 0)
        guard free >= needed else {
            let reserve = isShared ? ", with the free space that uploads need" : ""
            throw DataDirectory.Problem(
                description: "\(root) has \(free) free bytes, and the backup needs \(needed)\(reserve)")
        }
    }

    private func path(of name: String) -> String { "\(root)/\(name)" }

    private func failure(_ verb: String, _ name: String) -> DataDirectory.Problem {
        DataDirectory.Problem.last("cannot \(verb) \(path(of: name))")
    }
}

/// An archive that is being written to a folder: `NAME.partial` until it is completely on the disk.
private struct FolderArchiveUpload: ArchiveUpload {
    let file: ArchiveDestination

    func receive(_ bytes: [UInt8]) async throws {
        try await Worker.disk.run { try file.receive(BackupChunk(data: bytes)) }
    }

    func finish() async throws {
        try await Worker.disk.run {
            try file.receive(BackupChunk(summary: BackupSummary()))
            _ = try file.finish()
        }
    }

    func abandon() async {
        file.abandon()
    }
}
