import Basics
import CLinux
import Crypto
import Glibc

/// Files with the same bytes as another: two hard links, each of which is removed independently, in any order.
///
/// After a crash, a finished file without a row is moved to quarantine. To prevent that for a duplicate whose commit did not
/// happen, `duplicates/<file id>` marks it before it gets its name and until its row exists; see ``Reconciler``.
extension DirectoryEngine {
    /// Makes the mark durable, creates the link, and makes the link durable, in this order. Then the row is committed, and the mark
    /// removed.
    func duplicate(_ fileID: String) throws -> NewFile {
        let id = Hex.lower(Random.bytes(16))
        pending.add(id, isDuplicate: true)
        do {
            let mark = Glibc.open(markPath(of: id), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0o600)
            guard mark >= 0, close(mark) == 0 else { throw StorageFailure.last() }
            try calls.synchronizeFolder("\(path)/duplicates")
            guard calls.link(path(of: fileID), path(of: id)) == 0 else { throw StorageFailure.lastOfReading() }
            let new = NewFile(id, NoBody(), in: self)
            try calls.synchronizeFolder(folder(of: id))
            return new
        } catch StorageFailure.missing {
            resolve(id)
            throw StorageFailure.missing
        } catch {
            resolve(id)
            return try copied(fileID)
        }
    }

    /// Copies the file, if the file system cannot create another hard link.
    private func copied(_ fileID: String) throws -> NewFile {
        let new = try create()
        guard let target = new.sink as? DataFile else { throw StorageFailure.missing }
        target.setDirect(false)
        let source = try open(fileID, for: .reading)
        try target.copy(source, length: try source.size(), to: 0)
        try target.synchronizeAndClose()
        return new
    }

    /// Whether the file is a duplicate whose commit is not known to have happened.
    func isUnresolvedDuplicate(_ fileID: String) throws(StorageFailure) -> Bool { try exists(markPath(of: fileID)) }

    /// Whether the file may be removed although nobody knows who needs it: its commit is not known to have happened, and its bytes
    /// have another name. An older database may not know a copy that was committed, and whose mark is still there; the last name of
    /// bytes is therefore never removed.
    func isRedundantDuplicate(_ fileID: String) throws(StorageFailure) -> Bool {
        guard try isUnresolvedDuplicate(fileID) else { return false }
        var status = stat()
        guard lstat(path(of: fileID), &status) == 0 else {
            if errno == ENOENT { return false }
            throw .last()
        }
        return status.st_nlink > 1
    }

    func unresolvedDuplicates() throws(StorageFailure) -> [String] {
        try Self.names(in: "\(path)/duplicates").filter(Self.isFileID)
    }

    /// Removes the mark. If that fails, the next start after a crash removes it.
    func unmarkDuplicate(_ fileID: String) { unlink(markPath(of: fileID)) }

    private func markPath(of fileID: String) -> String { "\(path)/duplicates/\(fileID)" }
}

/// A body sink for a file whose bytes already exist.
private final class NoBody: BodySink {
    func append(block: UnsafeRawBufferPointer) throws {}
    func append(end: UnsafeRawBufferPointer) throws {}
    func finish() throws {}
}
